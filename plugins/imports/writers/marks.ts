import { insertImportedNotes } from '../../notes/import-rows.ts'
import { insertImportedMarks } from '../../roms/import-rows.ts'
import type { ImportRecord } from '../contract.ts'
import { type Batch, type Stored, type Writer, insertResolved, noRom, noUser, toTime, toTimes } from './writer.ts'

const RATING_MAX = 10
const COMPLETION_MAX = 100

/** Returns a time; null for one in the future, which no later play could ever replace. */
function toPast (text: string | null): string | null {
  const time = toTime(text)
  return time !== null && Date.parse(time) > Date.now() ? null : time
}

export const markWriter: Writer<'mark'> = {
  kind: 'mark',
  idOf: ({ rom_id: rom, user_id: user }) => `${rom}/${user ?? ''}`,
  nameOf: () => null,
  async write ({ tx, refs }, records) {
    const roms = await refs.find('rom', records.map((record) => record.rom_id))
    const userOf = await refs.users(records)
    return await insertResolved(records, (record) => {
      const [rom, user] = [roms.get(record.rom_id), userOf(record)]
      if (rom === undefined) return noRom(record.rom_id)
      if (user === null) return noUser(record.user_id)
      return {
        row: {
          rom_id: rom,
          user_id: user,
          last_played: toPast(record.last_played),
          is_main_sibling: record.is_main_sibling,
          backlogged: record.backlogged,
          now_playing: record.now_playing,
          hidden: record.hidden,
          rating: Math.min(record.rating, RATING_MAX),
          difficulty: Math.min(record.difficulty, RATING_MAX),
          completion: Math.min(record.completion, COMPLETION_MAX),
          status: record.status,
          ...toTimes(record)
        }
      }
    }, (rows) => insertImportedMarks(tx, rows), 'the user has marks for this ROM here already, which stay')
  }
}

const TITLE_MAX = 400

/** Returns a title for a note whose own title the user has already. */
const toSecondTitle = (title: string) => `${title.slice(0, TITLE_MAX)} (imported)`

export const noteWriter: Writer<'note'> = {
  kind: 'note',
  idOf: ({ id }) => id,
  nameOf: ({ title }) => title,
  async write (batch, records) {
    const stored = await writeNotes(batch, records, (title) => title)
    const again = records.filter((_record, index) => isTaken(stored[index]))
    if (again.length === 0) return stored
    const second = (await writeNotes(batch, again, toSecondTitle)).values()
    return stored.map((one) => isTaken(one) ? second.next().value ?? one : one)
  }
}

const TAKEN = 'the user has a note of this title for the ROM here already, which stays'
const isTaken = (stored: Stored | undefined) => stored !== undefined && 'reason' in stored && stored.reason === TAKEN

async function writeNotes (
  { tx, refs }: Batch, records: readonly ImportRecord<'note'>[], toTitle: (title: string) => string
): Promise<Stored[]> {
  const roms = await refs.find('rom', records.map((record) => record.rom_id))
  const userOf = await refs.users(records)
  return await insertResolved(records, (record) => {
    const [rom, user] = [roms.get(record.rom_id), userOf(record)]
    if (rom === undefined) return noRom(record.rom_id)
    if (user === null) return noUser(record.user_id)
    const { title, content, is_public: isPublic, tags } = record
    const row = { rom_id: rom, user_id: user, title: toTitle(title), content, is_public: isPublic, tags }
    return { row: { ...row, ...toTimes(record) } }
  }, (rows) => insertImportedNotes(tx, rows), TAKEN)
}
