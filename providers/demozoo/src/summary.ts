import type { Metadata } from './metadata.ts'

const SEPARATOR = ' · '
const CREDITS = 8
/** Tags that tell what somebody misses who does not know them. */
const NOTES: ReadonlyMap<string, string> = new Map([['no-sound', 'without sound'], ['hidden-part', 'has a hidden part']])

/** One line of what a production is; its pages elsewhere stand at the end. */
export function composeSummary (metadata: Metadata, year: number | undefined, partyLines: readonly string[]): string {
  const { types, companies, invitation, tags, youtube_video_id: video } = metadata
  const by = companies.length === 0 ? [] : ['by', companies.join(', ')]
  const what = [types.join(', '), ...by, ...year === undefined ? [] : [`(${year})`]]
  return [
    what.join(' ').trim(),
    ...partyLines,
    invitation && `invitation to ${invitation}`,
    listCredits(metadata),
    ...tags.map((tag) => NOTES.get(tag)),
    video && `https://www.youtube.com/watch?v=${video}`,
    metadata.demozoo_url, metadata.pouet_url, metadata.csdb_url
  ].filter(Boolean).join(SEPARATOR)
}

function listCredits ({ credits }: Metadata): string {
  const byRole = Map.groupBy(credits.slice(0, CREDITS), ({ role = '' }) => role)
  return [...byRole].map(([role, some]) => {
    const names = some.map(({ name }) => name).join(', ')
    return role === '' ? names : `${role}: ${names}`
  }).join('; ')
}
