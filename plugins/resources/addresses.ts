import { type Secrets, isEqualSecret } from '../../core/access/secrets.ts'

export const RESOURCES_PREFIX = '/assets/romm/resources'
const PURPOSE = 'resource address'
/** 128 bits of the signature: nobody guesses them, and lists of thousands of covers stay small. */
const MARK_LENGTH = 22
const PLACE = new RegExp(`^(?:([\\w-]{${MARK_LENGTH}})/)?(.*)$`, 's')

/** How stored files are named to clients. */
export interface Addresses {
  /** Where a stored file is served; the version tells browsers when it is another one. */
  locate (path: string, version?: string): string
  /** The same below the prefix, for fields that clients put behind it themselves. */
  place (path: string): string
}

/**
 * A mark is the file's for as long as the secret key is the same, so that browsers and apps can keep what they fetched.
 * It comes first in the path: apps cut queries off and look at extensions.
 */
const markOf = (secrets: Secrets, path: string) => secrets.sign(PURPOSE, path).slice(0, MARK_LENGTH)

/** @param secrets null for addresses without a mark */
export function createAddresses (secrets: Secrets | null): Addresses {
  const place = (path: string) => secrets === null ? path : `${markOf(secrets, path)}/${path}`
  return {
    place,
    locate: (path, version) => `${RESOURCES_PREFIX}/${place(path)}${version === undefined ? '' : `?ts=${version}`}`
  }
}

/** The path that an address names below its prefix, and whether it carries that path's mark. */
export function readPlace (secrets: Secrets, place: string): { path: string, isMarked: boolean } {
  const [, mark, path = ''] = PLACE.exec(place) ?? []
  return { path, isMarked: mark !== undefined && isEqualSecret(mark, markOf(secrets, path)) }
}
