"""What islpy lacks, one operation a file; knows no layer and no file."""
