import type { Context } from '../../../core/access/context.ts'
import { databaseDate } from '../../../core/database/clock.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { badRequest } from '../../../core/errors.ts'
import { Rom, RomUser } from '../entities.ts'
import type { Marks } from '../schemas.ts'

export interface MarksChange {
  marks: Marks
  updateLastPlayed: boolean
  removeLastPlayed: boolean
}

/** A ROM with its siblings, of which at most one is the main one. */
interface MarkedRom { id: number, sibling_roms: readonly { id: number }[] }

/**
 * Writes the caller's marks on a ROM. A ROM that becomes the main sibling replaces the former one.
 *
 * @throws ApiError BAD_REQUEST if last_played is both to be set and to be cleared.
 */
export async function writeMarks (
  { db, caller }: Context, { id: romId, sibling_roms: siblings }: MarkedRom, change: MarksChange
): Promise<void> {
  const { marks, updateLastPlayed, removeLastPlayed } = change
  if (updateLastPlayed && removeLastPlayed) {
    throw badRequest('update_last_played and remove_last_played contradict each other; send one of them')
  }
  const played = updateLastPlayed ? { last_played: databaseDate() } : removeLastPlayed ? { last_played: null } : {}
  await inTransaction(db, async (tx) => {
    await tx.query('insert into rom_users (rom_id, user_id) values ($1, $2) on conflict (rom_id, user_id) do nothing',
      [romId, caller.id])
    const row = await tx.em.findOneOrFail(RomUser, { rom: tx.em.getReference(Rom, romId), user: caller.id })
    tx.em.assign(row, { ...pickMarks(marks), ...played })
    await tx.em.flush()
    if (marks.is_main_sibling !== true || siblings.length === 0) return
    const others = siblings.map(({ id }) => id)
    await tx.em.nativeUpdate(RomUser, { user: caller.id, rom: { $in: others } }, { is_main_sibling: false })
  })
}

/** Picks the marks that a person may set, because a body may contain other fields. */
function pickMarks (marks: Marks): Marks {
  const names = ['is_main_sibling', 'backlogged', 'now_playing', 'hidden', 'rating', 'difficulty', 'completion', 'status'] as const
  return Object.fromEntries(names.filter((name) => marks[name] !== undefined).map((name) => [name, marks[name]]))
}
