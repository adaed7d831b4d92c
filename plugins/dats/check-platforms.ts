import { PLATFORMS } from '@svc/plugin-sdk'
import type { Db } from '../../core/database/db.ts'
import { badRequest } from '../../core/errors.ts'
import { selectSlugs } from './dat-rows.ts'
import { findSimilarSlugs } from './platform-names.ts'

/** @throws ApiError BAD_REQUEST for a slug of no platform, neither a known one nor one of the library */
export async function checkPlatforms (db: Db, given: readonly string[]): Promise<void> {
  const slugs = new Set([...PLATFORMS.map(({ slug }) => slug), ...await selectSlugs(db, given)])
  const unknown = given.find((slug) => !slugs.has(slug))
  if (unknown === undefined) return
  const similar = findSimilarSlugs(unknown).map((slug) => `'${slug}'`)
  const remedy = similar.length > 0 ? `give ${similar.join(' or ')}` : 'GET /api/platforms/supported lists all'
  throw badRequest(`'${unknown}' is not the slug of a platform; ${remedy}`)
}
