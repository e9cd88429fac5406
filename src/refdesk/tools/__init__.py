"""Checked arguments in, one result model out: one file per question an agent may ask."""
