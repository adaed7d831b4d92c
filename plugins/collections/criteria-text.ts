import { toStorable } from '../../core/database/json.ts'
import { badRequest } from '../../core/errors.ts'
import { isShallow } from '../../core/web/json-depth.ts'

type Criteria = Record<string, unknown>

/** Reads the filter of a form. @throws ApiError BAD_REQUEST with the text that apps show, unless it is an object */
export function readCriteriaText (text: string): Criteria {
  const refused = () => badRequest('Invalid JSON for filter_criteria field')
  let criteria: unknown
  try {
    criteria = JSON.parse(text)
  } catch {
    throw refused()
  }
  const isObject = typeof criteria === 'object' && criteria !== null && !Array.isArray(criteria)
  if (!isObject || !isShallow(criteria)) throw refused()
  return toStorable(criteria as Criteria)
}
