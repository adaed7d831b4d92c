import type { ProviderId } from '@svc/plugin-sdk'

// The query language: https://api-docs.igdb.com/#apicalypse-1
const RELATED_FIELDS = ['expansions', 'expanded_games', 'dlcs', 'remakes', 'remasters', 'ports', 'similar_games']
  .map((list) => `${list}.id,${list}.slug,${list}.name,${list}.cover.url`)

const MULTIPLAYER_FIELDS = [
  'campaigncoop', 'dropin', 'lancoop', 'offlinecoop', 'offlinecoopmax', 'offlinemax', 'onlinecoop', 'onlinecoopmax',
  'onlinemax', 'splitscreen', 'splitscreenonline', 'platform.id', 'platform.name'
].map((field) => `multiplayer_modes.${field}`)

const FIELDS = [
  'id', 'name', 'slug', 'summary', 'total_rating', 'aggregated_rating', 'first_release_date', 'cover.url',
  'screenshots.url', 'platforms.id', 'platforms.name', 'alternative_names.name', 'genres.name', 'franchise.name',
  'franchises.name', 'collections.name', 'game_modes.name', 'involved_companies.company.name',
  'involved_companies.developer', 'involved_companies.publisher', 'videos.video_id',
  'age_ratings.rating_category.rating', 'age_ratings.organization.name', 'game_localizations.name',
  'game_localizations.cover.url', 'game_localizations.region.identifier', ...RELATED_FIELDS, ...MULTIPLAYER_FIELDS
].join(',')

/** IGDB allows at most 500 results per query. */
const LIMIT = 200

/**
 * Main game, stand-alone expansion, remake, remaster, expanded game and port: types that are sold on a medium of
 * their own, and so the most likely ones for a ROM.
 */
const OWN_RELEASE_TYPES = '(0,4,8,9,10,11)'

/** ScummVM is a keyword and not a platform at IGDB; the keyword's id serves as the platform id. */
const SCUMMVM_KEYWORD_ID = 50501

/** Builds a search by relevance. `ownReleases` excludes add-ons, bundles, mods and the like. */
export function searchQuery (term: string, platformIds: readonly ProviderId[], ownReleases: boolean): string {
  const field = platformIds.includes(SCUMMVM_KEYWORD_ID) ? 'keywords' : 'platforms'
  const types = ownReleases ? ` & game_type=${OWN_RELEASE_TYPES}` : ''
  const where = `${includesAny(field, platformIds)}${types}`
  return `search ${quote(term)}; fields ${FIELDS}; where ${where}; limit ${LIMIT};`
}

/**
 * Builds a query for all names and alternative names that contain the term. Returns undefined for ScummVM, because
 * `/search` has no such filter.
 */
export function nameQuery (term: string, platformIds: readonly ProviderId[]): string | undefined {
  if (platformIds.includes(SCUMMVM_KEYWORD_ID)) return undefined
  const names = `(name ~ *${quote(term)}* | alternative_name ~ *${quote(term)}*)`
  return `fields game.id,name; where ${includesAny('game.platforms', platformIds)} & ${names}; limit ${LIMIT};`
}

export function idsQuery (ids: readonly number[]): string {
  return `fields ${FIELDS}; where ${ids.map((id) => `id=${id}`).join(' | ')}; limit ${LIMIT};`
}

function includesAny (field: string, ids: readonly ProviderId[]): string {
  return `(${ids.map((id) => `${field}=[${id}]`).join(' | ')})`
}

function quote (term: string): string {
  const printable = term.replace(/\p{Cc}+/gu, ' ')
  return `"${printable.replace(/["\\]/g, '\\$&')}"`
}
