"""Tables of cells that add up: their structure, what in them is sensitive, and what an attacker can compute."""
