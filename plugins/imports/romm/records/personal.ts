import type { ImportRecord } from '../../contract.ts'
import { need, readRecords, type RommSource, TIMES, timesOf } from './source.ts'

const MARK_COLUMNS = ['id', 'rom_id', 'user_id', 'last_played', 'is_main_sibling', 'backlogged', 'now_playing', 'hidden',
  'rating', 'difficulty', 'completion', 'status', ...TIMES] as const
const NOTE_COLUMNS = ['id', 'rom_id', 'user_id', 'title', 'content', 'is_public', 'tags', ...TIMES] as const
const FORMER_NOTE_COLUMNS = ['id', 'rom_id', 'user_id', 'note_raw_markdown', 'note_is_public', ...TIMES] as const

const STATUSES = ['incomplete', 'finished', 'completed_100', 'retired', 'never_playing'] as const
/** The title that RomM 4.5 gave to the one note that a user had for a ROM before. */
const FORMER_TITLE = 'My Note'

export async function * listMarks (source: RommSource): AsyncGenerator<ImportRecord<'mark'>> {
  yield * readRecords(source, { kind: 'mark', table: 'rom_user', columns: MARK_COLUMNS }, (row) => {
    const status = row.word('status')
    const known = STATUSES.find((one) => one === status) ?? null
    if (known === null && status !== null) source.noteOdd('rom_user', 'status', row.text('id') ?? '')
    return {
      rom_id: need(row.text('rom_id'), 'rom_id'),
      user_id: need(row.text('user_id'), 'user_id'),
      last_played: row.time('last_played'),
      is_main_sibling: row.flag('is_main_sibling'),
      backlogged: row.flag('backlogged'),
      now_playing: row.flag('now_playing'),
      hidden: row.flag('hidden'),
      rating: clamp(row.integer('rating'), 10),
      difficulty: clamp(row.integer('difficulty'), 10),
      completion: clamp(row.integer('completion'), 100),
      status: known,
      ...timesOf(row)
    }
  })
}

/** Lists the notes with content. Before RomM 4.5 they were columns of `rom_user`. */
export async function * listNotes (source: RommSource): AsyncGenerator<ImportRecord<'note'>> {
  const notes = source.tables.hasTable('rom_notes') ? readNotes(source) : readFormerNotes(source)
  for await (const { content, ...note } of notes) {
    // An update of RomM made a note without content for each row of `rom_user`.
    if (content !== null && content.trim() !== '') yield { ...note, content }
  }
}

type NoteOrEmpty = Omit<ImportRecord<'note'>, 'content'> & { content: string | null }

function readNotes (source: RommSource): AsyncGenerator<NoteOrEmpty> {
  return readRecords(source, { kind: 'note', table: 'rom_notes', columns: NOTE_COLUMNS }, (row) => ({
    id: need(row.text('id'), 'id'),
    rom_id: need(row.text('rom_id'), 'rom_id'),
    user_id: need(row.text('user_id'), 'user_id'),
    title: row.text('title') ?? FORMER_TITLE,
    content: row.text('content'),
    is_public: row.flag('is_public'),
    tags: row.texts('tags').slice(0, 1_000),
    ...timesOf(row)
  }))
}

function readFormerNotes (source: RommSource): AsyncGenerator<NoteOrEmpty> {
  return readRecords(source, { kind: 'note', table: 'rom_user', columns: FORMER_NOTE_COLUMNS }, (row) => ({
    id: `rom_user:${need(row.text('id'), 'id')}`,
    rom_id: need(row.text('rom_id'), 'rom_id'),
    user_id: need(row.text('user_id'), 'user_id'),
    title: FORMER_TITLE,
    content: row.text('note_raw_markdown'),
    is_public: row.flag('note_is_public'),
    tags: [],
    ...timesOf(row)
  }))
}

function clamp (value: number | null, max: number): number {
  return Math.min(Math.max(value ?? 0, 0), max)
}
