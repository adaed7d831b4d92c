import { defineError } from '../../core/errors.ts'

/** A library has no platform folders. */
export const libraryEmpty = defineError('LIBRARY_EMPTY', 503, 'The library has no folder of ROMs')
