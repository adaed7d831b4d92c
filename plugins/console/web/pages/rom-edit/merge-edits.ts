import { type EditValues, FIELDS, type Field } from './edit-values.ts'

/** A field that two people changed differently. */
export interface EditConflict {
  field: Field
  mine: string
  theirs: string
}

/** A form after somebody else changed the ROM. */
export interface MergedEdit {
  values: EditValues
  conflicts: EditConflict[]
  hasTaken: boolean
}

/**
 * Merges a form with the newer values of the ROM. Fields that the person did not touch get the newer values.
 *
 * @param base the values that the form began with
 */
export function mergeEdits (base: EditValues, mine: EditValues, theirs: EditValues): MergedEdit {
  const isUntouched = (field: Field) => mine[field] === base[field]
  const values = Object.fromEntries(
    FIELDS.map((field) => [field, isUntouched(field) ? theirs[field] : mine[field]])
  ) as Record<Field, string>
  return {
    values,
    hasTaken: FIELDS.some((field) => isUntouched(field) && theirs[field] !== base[field]),
    conflicts: FIELDS.filter(
      (field) => !isUntouched(field) && theirs[field] !== base[field] && theirs[field] !== mine[field]
    ).map((field) => ({ field, mine: mine[field], theirs: theirs[field] }))
  }
}
