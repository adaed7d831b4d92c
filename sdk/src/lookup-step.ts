import { type Static, Type } from '@sinclair/typebox'

/** The kinds of hash by which a provider looks a file up. `ra` is the hash of RetroAchievements. */
export const HASH_KINDS = ['crc', 'md5', 'sha1', 'ra'] as const
/** One of {@link HASH_KINDS}. */
export type HashKind = typeof HASH_KINDS[number]

/** Maximum number of candidates in one step. */
const CANDIDATES_MAX = 10

/** The schema of a {@link LookupCandidate}. */
export const LookupCandidateSchema = Type.Object({
  name: Type.String({ description: 'The title that was compared' }),
  score: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], {
    description: 'Null if the title was not compared, because its numbers differ from those of the term'
  })
})
/** A game that a search returned, with the similarity of its title. */
export type LookupCandidate = Static<typeof LookupCandidateSchema>

/** The schema of a lookup by hash. */
export const HashStepSchema = Type.Object({
  by: Type.Literal('hash'),
  hashes: Type.Array(Type.Union(HASH_KINDS.map((kind) => Type.Literal(kind))), { description: 'The kinds that were sent' })
}, { title: 'HashStep' })

/** The schema of a {@link SearchStep}. */
export const SearchStepSchema = Type.Object({
  by: Type.Literal('search'),
  term: Type.String({ description: 'The title that candidates were compared with' }),
  threshold: Type.Number({ minimum: 0, maximum: 1, description: 'The lowest score that counts' }),
  count: Type.Integer({ minimum: 0, description: 'The number of candidates' }),
  candidates: Type.Array(LookupCandidateSchema, { description: 'The best ones, best first' })
}, { title: 'SearchStep' })
/** A search by name, with the candidates that were compared. */
export type SearchStep = Static<typeof SearchStepSchema>

/** The schema of a lookup in a file that lists games. */
export const SidecarStepSchema = Type.Object({
  by: Type.Literal('sidecar'),
  path: Type.String({ description: 'A file beside the ROMs that lists games, such as gamelist.xml' })
}, { title: 'SidecarStep' })

/** The schema of a {@link LookupStep}. */
export const LookupStepSchema = Type.Union([HashStepSchema, SearchStepSchema, SidecarStepSchema])
/** One step of a lookup, which a provider passes to `ctx.explain`. The last step gave the match, if there is one. */
export type LookupStep = Static<typeof LookupStepSchema>

/**
 * Returns the kinds of the known hashes, for the step of a lookup.
 *
 * @example ctx.explain({ by: 'hash', hashes: listHashKinds(contentHashes(file)) })
 */
export function listHashKinds (hashes: { readonly [Name in `${HashKind}_hash`]?: string | undefined }): HashKind[] {
  return HASH_KINDS.filter((kind) => (hashes[`${kind}_hash`] ?? '') !== '')
}

const rankOf = ({ score }: LookupCandidate) => score ?? -1

/** Collects the best candidates of a search, so that a list of thousands of titles costs no memory. */
export function createShortList () {
  const best: LookupCandidate[] = []
  return {
    best,
    add (candidate: LookupCandidate): void {
      const last = best.at(-1)
      if (best.length === CANDIDATES_MAX && last !== undefined && rankOf(last) >= rankOf(candidate)) return
      const position = best.findIndex((other) => rankOf(other) < rankOf(candidate))
      best.splice(position === -1 ? best.length : position, 0, candidate)
      if (best.length > CANDIDATES_MAX) best.pop()
    }
  }
}
