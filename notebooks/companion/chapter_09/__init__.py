"""Chapter 9, is the score redundant?"""
