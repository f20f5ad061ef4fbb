"""rEFInd, with the refind_linux.conf that lies beside the kernels.

Each normal row gets the arguments inside its quotes. rEFInd reads the file for every kernel that it finds in
the folder, so that kernels to come have them too. Rows with minimal options stay as they are, and so do those
of an installation medium. Stanzas that somebody wrote into refind.conf are reported: they have arguments of
their own. There is no trial boot: rEFInd has nothing that it boots once by itself.

Known from rEFInd's source (0.14.2: ReadLinuxOptionsFile, ReadTokenLine, mkrlconf) and from recorded hosts.
Rows were read alike by us and by its ReadTokenLine, on 469 made by chance; nothing was booted.
"""
