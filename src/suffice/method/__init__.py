"""What a method is: its shapes, parameters and promises."""
