"""Contract coverage: which part of the documented interface clients have exercised so far.

`recorder` counts, `contract` lists what can be covered, `document` combines the two and merges such
documents, `baseline` restricts them to a scope and knows what must not be lost, `gate` judges them,
`pages` shows them. Every server has a recorder; the rest is loaded when somebody asks for the
coverage.
"""
