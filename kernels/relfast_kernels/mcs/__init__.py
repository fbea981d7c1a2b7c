"""The largest common connected substructure of two molecular graphs: the most bonds, then the most atoms.

What is sought (a maximum common edge subgraph): a connected set of query bonds and an injective map of their
atoms into the target that keeps labels and maps each bond to one of its class (`packed`). The target may have
more bonds between the images.

How (`search`): branch and bound. One pair of atoms is given; then a bond with one end mapped is mapped to
each bond that it may become, or deleted. Bonds that close a ring come by themselves: with both ends mapped
there is nothing to choose.

Pruning loses nothing, each time because an equally good solution lies in a branch *before* the one that is
left out (so that no two such reasons can lean on each other):

- A deleted bond must not "come true", with both its ends mapped to where a bond of its class is: the same
  solution with that bond has one bond more, and was searched when the bond was mapped instead of deleted.
- Leaves of the target at one image are interchangeable, for what is mapped to one has no other bond there;
  leaves of the query at one atom likewise: only the first of those are mapped, the rest is deleted.
- A leaf is mapped to a leaf without trying others: in another solution either can be put there instead.
- Roots: when all solutions that contain a query atom have been searched, the atom is removed.

The bound (`narrow`): let a solution extend the present state. Each of its new bonds has an end at a mapped
atom u, or none.

- Bonds at u of class c are mapped to different target bonds of class c at the image of u, whose
  other end is free: at most the lesser of the two numbers, for each u and c. (A bond has only one mapped
  end, so nothing is counted twice; bonds between two mapped atoms were settled when the second one was.)
  Seen from their other ends: an unmapped atom gets one image, so that of its bonds to mapped atoms only those
  come true whose possible images meet at one atom. The lesser of the two sums holds.
- Bonds of class c without a mapped end are mapped to different target bonds of class c without an image at
  their ends. Both can be reached from the mapped part through bonds of their kind, for the solution is
  connected and so is its image: again at most the lesser number for each class, counted in what a flood fill
  reaches. Where both ends of a class have one label, a mapped atom has at most the lesser degree of itself
  and its image; the sum over pairs is greatest when both are sorted, and then is that of the lesser numbers
  of atoms of degree k or more.

The sum bounds the bonds. Where it only equals the best so far, more atoms are needed: a connected
substructure of b bonds has b + 1 atoms less one for each independent ring, and rings that are closed stay
closed; nor can there be more atoms of a label than both graphs have within reach.

With whole rings (`packed.pack`) each ring bond of a solution must lie on a ring of the solution, so that no
ring bond is a bridge of it. A ring of the query becomes a ring of the target, so it does not matter which is
which, and RDKit's lists of smallest rings are not needed. The reasons above hold: a bond between two atoms of
a solution closes a ring and opens none, and a leaf bond that is put on a leaf must be in no ring at all. The
bound holds for all connected substructures. Ring bonds at dead ends of what is matched or may be are dropped,
and the state with them if one is matched; only solutions without such bonds are kept.

Steps are states, each of some hundred nanoseconds; their number depends on the two graphs only.
"""
