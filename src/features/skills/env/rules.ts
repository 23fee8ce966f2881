/** So many variables of one skill an agent stores at most. */
export const maxKeys = 256;
