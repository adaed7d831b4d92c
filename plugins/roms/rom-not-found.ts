import { type ApiError, notFound } from '../../core/errors.ts'

/** Returns the error for an id that no ROM has, or only one that the caller may not see. */
export const romNotFound = (id: number | string): ApiError => notFound(`ROM with ID '${id}' not found`)
