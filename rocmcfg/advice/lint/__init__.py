"""Reads what people write about parameters in any file, and says what of it is wrong.

    source      a text with places: offsets, lines, pieces whose quotes are gone
    assignment  one name with its value, where it was found, and how it is spelt there
    kinds       which kind of file a text is
    readers     one module per family of kinds: text in, assignments out
    wording     what the judge says of an assignment, in lint's words
    superseded  what several assignments make of each other
    proposal    what to write instead, and the findings as a diff that somebody may apply
    check       one text through all of them, and what becomes of each of its settings

Nothing here reads or writes a file, and nothing here knows a fact about amdgpu: those are in the catalogue.
"""
