import type { components } from '../../api/schema.d.ts'
import { isFields } from '../../read-fields.ts'
import { joinList, splitList } from './list-text.ts'

export type EditRom = components['schemas']['EditRom']

/** The texts that a person edits, and how the server calls them. */
export const TEXT_FIELDS = ['name', 'name_sort_key', 'summary', 'url_manual', 'fs_name'] as const
/** Lists of facts, which a person edits as text with commas. */
export const LIST_FIELDS = ['genres', 'companies', 'franchises', 'game_modes', 'age_ratings'] as const
/** Facts that precede those of providers if a person set them. */
export const FACT_FIELDS = [...LIST_FIELDS, 'first_release_date', 'youtube_video_id'] as const
export const FIELDS = [...TEXT_FIELDS, ...FACT_FIELDS] as const
export type TextField = (typeof TEXT_FIELDS)[number]
export type FactField = (typeof FACT_FIELDS)[number]
export type Field = (typeof FIELDS)[number]
/** The form, as texts. */
export type EditValues = Readonly<Record<Field, string>>

type Rom = Pick<
  components['schemas']['DetailedRom'],
  'name' | 'name_sort_key' | 'summary' | 'url_manual' | 'fs_name' | 'metadatum' | 'youtube_video_id' | 'manual_metadata'
>

const DATE = /^\d{4}-\d{2}-\d{2}$/
const isFact = (field: Field): field is FactField => FACT_FIELDS.some((one) => one === field)
const isList = (field: FactField): field is (typeof LIST_FIELDS)[number] => LIST_FIELDS.some((one) => one === field)

const toDay = (time: number | null): string => (time === null ? '' : new Date(time).toISOString().slice(0, 10))

/** Returns the form of a ROM. */
export const readValues = ({
  name,
  name_sort_key: sortKey,
  summary,
  url_manual: manual,
  fs_name: file,
  metadatum,
  youtube_video_id: video
}: Rom): EditValues => ({
  name: name ?? '',
  name_sort_key: sortKey ?? '',
  summary: summary ?? '',
  url_manual: manual,
  fs_name: file,
  genres: joinList(metadatum.genres),
  companies: joinList(metadatum.companies),
  franchises: joinList(metadatum.franchises),
  game_modes: joinList(metadatum.game_modes),
  age_ratings: joinList(metadatum.age_ratings),
  first_release_date: toDay(metadatum.first_release_date),
  youtube_video_id: video ?? ''
})

export const listChanges = (base: EditValues, values: EditValues): Field[] =>
  FIELDS.filter((field) => base[field] !== values[field])

/** Returns the locks of fields: those of texts by their names, those of facts if a person set them. */
export function listLocked (locked: readonly string[], manual: Readonly<Record<string, unknown>>): ReadonlySet<Field> {
  return new Set(FIELDS.filter((field) => (isFact(field) ? hasFact(manual[field]) : locked.includes(field))))
}

const hasFact = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)

/** True for a release date that exists. JavaScript reads 30 February as 2 March. */
export const isValidDate = (text: string): boolean =>
  text === '' || (DATE.test(text) && !Number.isNaN(Date.parse(text)) && toDay(Date.parse(text)) === text)

function toFact (field: FactField, text: string): unknown {
  if (isList(field)) return splitList(text)
  return field === 'first_release_date' ? Date.parse(text) : text.trim()
}

/** Returns the facts of a person after an edit. An empty or unlocked fact comes from the providers again. */
function toManual (
  manual: Readonly<Record<string, unknown>>,
  values: EditValues,
  changed: readonly FactField[],
  unlocked: readonly FactField[]
) {
  const dropped = new Set<string>([...changed, ...unlocked])
  const kept = Object.entries(manual).filter(([name]) => !dropped.has(name))
  const set = changed
    .filter((field) => values[field].trim() !== '' && !unlocked.includes(field))
    .map((field) => [field, toFact(field, values[field])])
  return Object.fromEntries([...kept, ...set]) as Record<string, unknown>
}

/** A request that edits a ROM. */
export interface EditRequest {
  body: EditRom
  unlock: string[]
}

/** Returns the request for what a person changed in the form. */
export function toRequest (rom: Rom, base: EditValues, values: EditValues, unlocked: ReadonlySet<Field>): EditRequest {
  const changed = listChanges(base, values).filter((field) => !unlocked.has(field))
  const texts = changed.filter((field): field is TextField => !isFact(field)).map((field) => [field, values[field]])
  const facts = changed.filter(isFact)
  const unlockedFacts = [...unlocked].filter(isFact)
  const manual = isFields(rom.manual_metadata) ? rom.manual_metadata : {}
  const changesFacts = facts.length + unlockedFacts.length > 0
  return {
    body: {
      ...(Object.fromEntries(texts) as Partial<Record<TextField, string>>),
      ...(changesFacts ? { raw_manual_metadata: JSON.stringify(toManual(manual, values, facts, unlockedFacts)) } : {})
    },
    unlock: [...unlocked].filter((field) => !isFact(field))
  }
}

/** Returns the request that undoes an edit: fields with a lock get their former value, all others are unlocked. */
export function toUndo (rom: Rom, { body, unlock }: EditRequest, lockedBefore: ReadonlySet<Field>): EditRequest {
  const base = readValues(rom)
  const touched = [
    ...TEXT_FIELDS.filter((field) => body[field] !== undefined),
    ...TEXT_FIELDS.filter((field) => unlock.includes(field))
  ]
  const again = touched.filter((field) => lockedBefore.has(field) || field === 'fs_name')
  return {
    body: {
      ...(Object.fromEntries(again.map((field) => [field, base[field]])) as Partial<Record<TextField, string>>),
      ...(body.raw_manual_metadata === undefined ? {} : { raw_manual_metadata: JSON.stringify(rom.manual_metadata) })
    },
    unlock: touched.filter((field) => !again.includes(field))
  }
}
