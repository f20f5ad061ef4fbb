"""Find mistakes in the settings that people write in any file.

    source      a text with its places: offsets, lines, and pieces without their quotes
    assignment  one name with its value, its place, and its spelling there
    kinds       the kind of file that a text is
    readers     one module for each family of kinds: text in, assignments out
    wording     the judge's verdicts on an assignment, framed for lint
    superseded  assignments that override each other
    proposal    what to write instead, and the findings as a diff that the user may apply
    check       one text checked by all of these, and the fate of each of its settings

No module here reads or writes a file or knows a fact about amdgpu: facts are in the catalogue.
"""
