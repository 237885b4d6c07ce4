"""How the mini zoo is made: recipes, training, the hard task and the tables."""
