"""What stands behind single methods: arrays in, arrays out."""
