import { type LinkMatch, MatchSchema, type Media, type ProviderDefinition } from '@svc/plugin-sdk'
import { type Static, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Value, type ValueError } from '@sinclair/typebox/value'
import { toDatabaseJson } from '../../core/database/json.ts'
import { PluginAnswerError } from '../../core/loader/calls/answer-error.ts'
import type { Loaded } from '../../core/loader/registry.ts'
import { cut } from '../library/names.ts'
import type { ProviderMatch } from './matches.ts'

const matches = TypeCompiler.Compile(MatchSchema)
/** Maximum number of characters in the columns of names. */
const NAME_LENGTH = 350
const SORT_NAME_LENGTH = 500
/** Maximum number of characters of a summary, the same as when a person writes it. */
const SUMMARY_LENGTH = 60_000
/** Maximum number of characters of a match as JSON, because a list of ROMs holds many of them. */
const MATCH_LENGTH = 2_000_000
/** Maximum number of media besides badges; LaunchBox and ScreenScraper list up to about a hundred for a game. */
const MEDIA_COUNT = 500
/** Maximum number of badges: two for each of 1,000 achievements, more than any game of RetroAchievements has. */
const BADGE_COUNT = 2_000
/** Maximum number of characters of an id: an entry of an index of PostgreSQL has at most 2,704 bytes. */
const ID_LENGTH = 500
/** Maximum number of characters of the address of a medium, because addresses are shown in reports of scans. */
const URL_LENGTH = 4_096
/** Maximum number of characters of a wrong value in an error. */
const VALUE_LENGTH = 100

type Provider = Loaded<ProviderDefinition>

/** Refuses addresses with a secret, because addresses are stored and shown. Credentials are added at the download. */
export function checkAddresses (urls: readonly string[], { key, trust }: Pick<Provider, 'key' | 'trust'>): void {
  const secrets = new Set(trust.secrets)
  const valuesOf = (url: string) => URL.canParse(url) ? [...new URL(url).searchParams.values()] : []
  if (urls.flatMap(valuesOf).some((value) => secrets.has(value))) {
    throw new PluginAnswerError(`Provider '${key}' returned the address of a picture that contains a secret of its configuration; ` +
      'remove the secret from the address, and add it in media.fetch')
  }
}

/**
 * Returns the JSON copy of a match, which can be stored. The copy is validated, as in the SDK's test kit, because JSON
 * drops undefined properties, such as an unknown id among `ids`.
 *
 * @throws PluginAnswerError with the problem of the match
 */
export function checkMatch (answer: unknown, provider: Provider): ProviderMatch {
  const { key, definition } = provider
  const json = typeof answer === 'object' ? toJson(answer, key) : 'null'
  if (json.length > MATCH_LENGTH) {
    throw new PluginAnswerError(`Provider '${key}' returned a match of ${json.length} characters, but the limit is ${MATCH_LENGTH}; ` +
      'return only what describes the game')
  }
  const match: unknown = JSON.parse(json)
  if (!matches.Check(match)) throw wrongPart(key, '', matches.Errors(match).First())
  if (definition.kind === 'ids') return readLinks(match, key)
  const isRightId = definition.id === 'integer' ? typeof match.id === 'number' : typeof match.id === 'string'
  if (!isRightId) {
    throw new PluginAnswerError(`Provider '${key}' returned the id ${JSON.stringify(match.id)}, ` +
      `which is not of the type ${definition.id} that it declares`)
  }
  if (String(match.id).length > ID_LENGTH) {
    throw new PluginAnswerError(`Provider '${key}' returned an id of ${String(match.id).length} characters, but the limit is ${ID_LENGTH}; ` +
      'return the id that the service uses')
  }
  checkMetadata(match.metadata, provider)
  checkAddresses((match.media ?? []).map(({ url }) => url), provider)
  const media = match.media && limitMedia(match.media.filter(({ url }) => provider.allowsMedia(url)))
  return { ...match, ...cutTexts(match), ...media === undefined ? {} : { media } } as ProviderMatch
}

/** @throws PluginAnswerError if JSON cannot hold the match, such as one with a BigInt */
function toJson (answer: object | null, key: string): string {
  try {
    return toDatabaseJson(answer)
  } catch (err) {
    throw new PluginAnswerError(`Provider '${key}' returned a match that JSON cannot hold: ${err instanceof Error ? err.message : String(err)}`)
  }
}

/**
 * Finds the parts of metadata that contradict the schema of `<key>_metadata` in the API, in which no field is required.
 */
export const findMetadataProblems = (
  metadata: unknown, schema: ProviderDefinition['metadata'] | null
): Iterable<ValueError> => schema === undefined || schema === null ? [] : Value.Errors(Type.Partial(schema), metadata)

/** @throws PluginAnswerError with the wrong part of the metadata */
function checkMetadata (metadata: unknown, { key, definition }: Provider): void {
  const [problem] = metadata === undefined ? [] : findMetadataProblems(metadata, definition.metadata)
  if (problem !== undefined) throw wrongPart(key, '/metadata', problem)
}

/** @param base the path of the value in the match that was checked; empty for the match itself */
function wrongPart (key: string, base: string, problem: ValueError | undefined): PluginAnswerError {
  const path = `${base}${problem?.path ?? ''}`
  return new PluginAnswerError(`Provider '${key}' returned a match whose ${path.slice(1) || 'shape'} is wrong: ` +
    `${problem?.message ?? 'it is not an object'}; it is ${JSON.stringify(problem?.value)?.slice(0, VALUE_LENGTH)}`)
}

/** Drops the media over the limits, because each is stored, and each that the operator prefers is downloaded. */
function limitMedia (media: readonly Media[]): Media[] {
  const remaining = { badges: BADGE_COUNT, others: MEDIA_COUNT }
  return media.filter(({ url }) => url.length <= URL_LENGTH).filter(({ kind }) => remaining[kind === 'badge' ? 'badges' : 'others']-- > 0)
}

function cutTexts ({ name, sort_name: sortName, summary }: Static<typeof MatchSchema>) {
  return {
    ...name !== undefined && { name: cut(name, NAME_LENGTH) },
    ...sortName !== undefined && { sort_name: cut(sortName, SORT_NAME_LENGTH) },
    ...summary !== undefined && { summary: cut(summary, SUMMARY_LENGTH) }
  }
}

/** Returns the links of a provider that only gives ids of other providers; all other fields are ignored. */
function readLinks ({ id, ids, score }: Static<typeof MatchSchema>, key: string): LinkMatch {
  if (ids === undefined || id !== undefined) {
    throw new PluginAnswerError(`Provider '${key}' returned a match ${ids === undefined ? "without 'ids'" : "with an 'id' of its own"}, ` +
      "but is of the kind 'ids'")
  }
  return score === undefined ? { ids } : { ids, score }
}
