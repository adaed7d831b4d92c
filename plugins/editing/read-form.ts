import type { ProviderId } from '@svc/plugin-sdk'
import type { ManualMetadata } from '../roms/entities.ts'
import { GAME_FIELDS, MANUAL_FIELDS } from '../roms/game-fields.ts'
import type { RomProviders } from '../roms/providers.ts'
import { type EditCall, TEXTS } from './edit-call.ts'
import type { EditForm } from './schemas.ts'

/** Converts a text to a provider's id. For a provider with integer ids, any other text means no id. */
function toId (text: string, type: 'integer' | 'string'): ProviderId | null {
  const trimmed = text.trim()
  if (type === 'string') return trimmed === '' ? null : trimmed
  return /^-?\d+$/.test(trimmed) && Number.isSafeInteger(Number(trimmed)) ? Number(trimmed) : null
}

/** Parses a JSON object; null for any other text. */
function readRecord (text: string | undefined): Record<string, unknown> | null {
  if (text === undefined) return null
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as Record<string, unknown> : null
  } catch {
    return null
  }
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

function readManual (text: string | undefined): ManualMetadata | null | undefined {
  const record = readRecord(text)
  if (record === null) return undefined
  const fields = MANUAL_FIELDS.map((name) => [name, readField(name, record[name])] as const)
  const hasValues = fields.some(([, value]) => value !== null && !(isList(value) && value.length === 0))
  return hasValues ? Object.fromEntries(fields) : null
}

/** Returns the fields that a form contains. */
export function readForm (
  form: EditForm, { all }: RomProviders
): Pick<EditCall, 'ids' | 'texts' | 'records' | 'fs_name' | 'manual_metadata'> {
  const manual = readManual(form.raw_manual_metadata)
  return {
    ids: Object.fromEntries(all.flatMap(({ key, id: type }) => {
      const text = form[`${key}_id`]
      return text === undefined ? [] : [[key, toId(text, type)] as const]
    })),
    records: Object.fromEntries(all.flatMap(({ key }) => {
      const record = readRecord(form[`raw_${key}_metadata`])
      return record === null ? [] : [[key, record] as const]
    })),
    texts: Object.fromEntries(TEXTS.flatMap((name) => form[name] === undefined ? [] : [[name, form[name]] as const])),
    fs_name: form.fs_name ?? '',
    ...(manual === undefined ? {} : { manual_metadata: manual })
  }
}
