"""Contract coverage: which part of the documented interface clients have exercised so far.

`recorder` counts, `contract` lists what can be covered, `document` combines the two and merges such
documents, `gate` restricts them to a scope and judges what must not be lost, `pages` shows and
writes them. Every server has a recorder; the rest is loaded when somebody asks for the coverage.
"""
