import { type AnyCaller, canSeeEverything } from '../../platforms/visibility.ts'

/** The id of the imaginary caller, whom no row names. Guests have the id -1, and lists of their own. */
const NO_USER_ID = -2

/**
 * Lists the callers of the shared lists from which a caller's list can be derived, because few ROMs differ: null for
 * the list of all ROMs, and an imaginary caller with the same group and age limit. That of all ROMs derives from none.
 */
export function listSharers (caller: AnyCaller): AnyCaller[] {
  if (caller === null) return []
  const { access } = caller
  const isOfEveryAge = canSeeEverything(caller) || (access.age_limit === null && !access.hide_unrated_roms)
  return [...(isOfEveryAge ? [null] : []), { id: NO_USER_ID, access }]
}

/** Returns the user whose own marks and rules a list follows; null for a shared list. */
export const ownerOf = (caller: AnyCaller): AnyCaller => caller?.id === NO_USER_ID ? null : caller
