import { defineError } from '../../core/errors.ts'

/** A file of a frontend could not be written. */
export const exportFailed = defineError('EXPORT_FAILED', 500, 'No file could be written')
