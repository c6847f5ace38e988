"""Operations on sets and relations that islpy lacks, one a file; no layer and no file is known."""
