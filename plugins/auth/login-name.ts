/**
 * Returns the stored form of a username that a person typed. Keyboards of phones add a space to a suggested word, and
 * no username contains one.
 */
export const toLoginName = (typed: string): string => typed.trim().toLowerCase()
