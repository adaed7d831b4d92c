import type { Metadata } from './metadata.ts'

const SEPARATOR = ' · '
const CREDITS = 8
const PARTY_LINES = 3
/** Ranks that are worth telling. */
const LOWEST_RANK = 2000

/** One line of what a production is; its pages stand at the end. */
export function composeSummary (metadata: Metadata, year: number | undefined, partyLines: readonly string[]): string {
  const { types, groups, credits, invitation, youtube_video_id: video } = metadata
  const by = groups.length === 0 ? [] : ['by', groups.join(', ')]
  const what = [types.join(', '), ...by, ...year === undefined ? [] : [`(${year})`]]
  return [
    what.join(' ').trim(),
    ...partyLines.slice(0, PARTY_LINES),
    invitation && `invitation to ${invitation}`,
    credits.slice(0, CREDITS).map(({ name, role }) => role === undefined ? name : `${role}: ${name}`).join('; '),
    describeVotes(metadata),
    video && `https://www.youtube.com/watch?v=${video}`,
    metadata.pouet_url
  ].filter(Boolean).join(SEPARATOR)
}

/** The summary that Demozoo gives of the same production, with what Pouët's users think of it before its links. */
export function completeSummary (summary: string, metadata: Metadata): string {
  const parts = summary.split(SEPARATOR)
  const link = parts.findIndex((part) => /^https?:/.test(part))
  const votes = describeVotes(metadata)
  if (votes !== '') parts.splice(link === -1 ? parts.length : link, 0, votes)
  return [...parts, ...parts.includes(metadata.pouet_url) ? [] : [metadata.pouet_url]].join(SEPARATOR)
}

function describeVotes ({ vote_avg: average, pouet_rank: rank = Infinity, pouet_cdc: cdc = 0 }: Metadata): string {
  const marks = [average?.toString(), rank <= LOWEST_RANK && `#${rank}`, cdc > 0 && `CdC ${cdc}`].filter(Boolean)
  return marks.length === 0 ? '' : `Pouët ${marks.join(SEPARATOR)}`
}
