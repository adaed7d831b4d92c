import { ApiError } from '../../core/errors.ts'
import { ID_MAX } from '../../core/typebox.ts'

/** Returns the ids within the range of ROM ids. */
export const toRomIds = (ids: readonly number[]): number[] => ids.filter((id) => id > 0 && id <= ID_MAX)

/** Reads the ROM ids of a form. @throws ApiError INVALID, with the text that apps show */
export function readRomIds (given: unknown): number[] {
  const refused = () => new ApiError('INVALID', 'Invalid list for rom_ids field in update collection')
  if (typeof given !== 'string') throw refused()
  let ids: unknown
  try {
    ids = JSON.parse(given)
  } catch {
    throw refused()
  }
  if (!Array.isArray(ids) || !ids.every((id): id is number => Number.isInteger(id))) throw refused()
  return toRomIds(ids)
}
