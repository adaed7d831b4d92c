import { type Secrets, isEqualSecret } from '../../core/access/secrets.ts'

export const RESOURCES_PREFIX = '/assets/romm/resources'
const PURPOSE = 'resource address'
/** 128 bits of the signature are impossible to guess, and keep lists of thousands of covers small. */
const MARK_LENGTH = 22
const PLACE = new RegExp(`^(?:([\\w-]{${MARK_LENGTH}})/)?(.*)$`, 's')

/** The addresses of stored files for clients. */
export interface Addresses {
  /** Returns the address of a stored file. The version changes when the file does, so browsers fetch it again. */
  locate (path: string, version?: string): string
  /** Returns the part of the address below the prefix, for fields to which clients add the prefix themselves. */
  toPath (path: string): string
}

/**
 * Returns the mark of a file. The mark stays the same as long as the secret key, so browsers and apps can cache the
 * file.
 * It comes first in the path, because apps cut off queries and read extensions.
 */
const markOf = (secrets: Secrets, path: string) => secrets.sign(PURPOSE, path).slice(0, MARK_LENGTH)

/** @param secrets null for addresses without a mark */
export function createAddresses (secrets: Secrets | null): Addresses {
  const place = (path: string) => secrets === null ? path : `${markOf(secrets, path)}/${path}`
  return {
    toPath: place,
    locate: (path, version) => `${RESOURCES_PREFIX}/${place(path)}${version === undefined ? '' : `?ts=${version}`}`
  }
}

/** Parses an address below its prefix: returns the path, and if the mark is valid for that path. */
export function readPath (secrets: Secrets, address: string): { path: string, isMarked: boolean } {
  const [, mark, path = ''] = PLACE.exec(address) ?? []
  return { path, isMarked: mark !== undefined && isEqualSecret(mark, markOf(secrets, path)) }
}
