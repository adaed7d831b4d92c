import type { ProviderId } from '@svc/plugin-sdk'
import { invalid } from '../../core/errors.ts'
import { ID_MAX } from '../../core/typebox.ts'
import type { ManualMetadata } from '../roms/entities.ts'
import { GAME_FIELDS, MANUAL_FIELDS } from '../roms/game-fields.ts'
import type { RomProviders } from '../roms/providers.ts'
import { type EditCall, TEXTS } from './edit-call.ts'
import type { EditForm } from './schemas.ts'

/** Maximum number of characters of a wrong value in an error. */
const SHOWN_MAX = 100

/**
 * Converts a text to a provider's id. For a provider with integer ids, any other text means no id. So does a number
 * beyond 32 bits, because apps could not read a list with that game.
 */
function toId (text: string, type: 'integer' | 'string'): ProviderId | null {
  const trimmed = text.trim()
  if (type === 'string') return trimmed === '' ? null : trimmed
  return /^-?\d+$/.test(trimmed) && Math.abs(Number(trimmed)) <= ID_MAX ? Number(trimmed) : null
}

/**
 * Parses a JSON object; null without one. Clients may send a text that is no JSON, and null for a record that does not
 * exist.
 *
 * @throws ApiError INVALID for any other JSON
 */
function readRecord (form: EditForm, name: string): Record<string, unknown> | null {
  let value: unknown
  try {
    value = JSON.parse(form[name] ?? '')
  } catch {
    return null
  }
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw invalid(['body', name], `${String(form[name]).slice(0, SHOWN_MAX)} is not a JSON object; send one, such as {}`, form[name])
  }
  return value as Record<string, unknown> | null
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isList = (value: unknown): value is unknown[] => Array.isArray(value)

/** Returns the values that a field can have; ignores values of another type. */
function readField (name: typeof MANUAL_FIELDS[number], value: unknown): unknown {
  const { sql } = GAME_FIELDS[name]
  if (sql === 'text[]') return isList(value) ? value.filter(isText).map((one) => one.trim()).filter(Boolean) : null
  if (sql === 'text') return isText(value) && value.trim() !== '' ? value.trim() : null
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null
}

function readManual (form: EditForm): ManualMetadata | null | undefined {
  const record = readRecord(form, 'raw_manual_metadata')
  if (record === null) return undefined
  const fields = MANUAL_FIELDS.map((name) => [name, readField(name, record[name])] as const)
  const hasValues = fields.some(([, value]) => value !== null && !(isList(value) && value.length === 0))
  return hasValues ? Object.fromEntries(fields) : null
}

/** Returns the fields that a form contains. @throws ApiError INVALID for a record that is JSON, but no object */
export function readForm (
  form: EditForm, { all }: RomProviders
): Pick<EditCall, 'ids' | 'texts' | 'records' | 'fs_name' | 'manual_metadata'> {
  const manual = readManual(form)
  return {
    ids: Object.fromEntries(all.flatMap(({ key, id: type }) => {
      const text = form[`${key}_id`]
      return text === undefined ? [] : [[key, toId(text, type)] as const]
    })),
    records: Object.fromEntries(all.flatMap(({ key }) => {
      const record = readRecord(form, `raw_${key}_metadata`)
      return record === null ? [] : [[key, record] as const]
    })),
    texts: Object.fromEntries(TEXTS.flatMap((name) => form[name] === undefined ? [] : [[name, form[name]] as const])),
    fs_name: form.fs_name ?? '',
    ...(manual === undefined ? {} : { manual_metadata: manual })
  }
}
