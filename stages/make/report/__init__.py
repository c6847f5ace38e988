"""Texts for users of the Make: results of builds, changes in what stages wrote, and causes."""
