import { terminalLine } from '../../core/cli/terminal-line.ts'
import { type RecordKind, RECORD_KINDS, type Skipped } from './contract.ts'
import type { ImportReport } from './schemas.ts'

/** The most named records and sentences in a report; the counts include all. */
const NAMED_MAX = 2_000
const TEXT_MAX = 500

const cut = (text: string) => text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX - 1)}…` : text

/** What became of one record. */
export type Outcome = 'new' | 'present' | 'version'

/** Collects the results of an import. */
export function createReport (facts: Pick<ImportReport, 'importer' | 'source' | 'dry_run'>) {
  const report: ImportReport = {
    ...facts, status: 'running', error: null, counts: {}, absent: {}, skipped: [], skipped_count: 0, warnings: []
  }
  const warned = new Set<string>()

  function countsOf (kind: RecordKind) {
    const known = report.counts[kind]
    if (known !== undefined) return known
    const counts = { listed: 0, new: 0, present: 0, version: 0, skipped: 0, files_skipped: 0 }
    report.counts[kind] = counts
    return counts
  }

  /** Names what was left out, with the reason. */
  function name ({ kind, id, name, reason }: Skipped): void {
    report.skipped_count++
    if (report.skipped.length >= NAMED_MAX) return
    report.skipped.push({ kind, id, name: name === null ? null : cut(name), reason: cut(reason) })
  }

  return {
    report,
    /** The number of records that were read so far. */
    get listed (): number { return RECORD_KINDS.reduce((sum, kind) => sum + (report.counts[kind]?.listed ?? 0), 0) },
    list (kind: RecordKind): void { countsOf(kind).listed++ },
    count (kind: RecordKind, outcome: Outcome, amount = 1): void { countsOf(kind)[outcome] += amount },

    /** Drops the counts of kinds that are read a second time. */
    forget (kinds: readonly RecordKind[]): void {
      for (const kind of kinds) Reflect.deleteProperty(report.counts, kind)
      report.skipped = report.skipped.filter(({ kind }) => !kinds.some((one) => one === kind))
      report.skipped_count = Object.values(report.counts)
        .reduce((sum, counts) => sum + counts.skipped + counts.files_skipped, 0)
    },

    /** Leaves out a record that was listed. */
    skip (skipped: Skipped): void {
      countsOf(skipped.kind).skipped++
      name(skipped)
    },

    /** Leaves out a record that the reader could not list, and counts it as read. */
    skipUnlisted (skipped: Skipped): void {
      const counts = countsOf(skipped.kind)
      counts.listed++
      counts.skipped++
      name(skipped)
    },

    /** Leaves out a file of a record. The record itself is counted apart. */
    skipFile (skipped: Skipped): void {
      countsOf(skipped.kind).files_skipped++
      name(skipped)
    },

    /** Adds a sentence, once. */
    warn (text: string): void {
      const sentence = cut(text)
      if (warned.has(sentence) || warned.size >= NAMED_MAX) return
      warned.add(sentence)
      report.warnings.push(sentence)
    }
  }
}
export type Report = ReturnType<typeof createReport>

const plural = (amount: number, noun: string) => `${amount} ${noun}${amount === 1 ? '' : 's'}`

/** Returns the name of a kind of record for people. */
export const nameKind = (kind: string): string => kind === 'rom' ? 'ROM' : kind.replaceAll('_', ' ')

/** Writes a report as text for a person. Names and reasons come from the source, so each becomes one line. */
export function formatReport (report: ImportReport): string {
  const { source, status, error, counts, absent, skipped, warnings } = report
  const head = report.dry_run ? `Plan of an import from ${source}; nothing was stored.` : `Import from ${source}: ${status}.`
  const rows = RECORD_KINDS.flatMap((kind) => {
    const found = counts[kind]
    if (found === undefined) return []
    const { listed, new: added, present, version, skipped: left, files_skipped: files } = found
    const parts = [`${added} new`, `${present} here already`, ...(version > 0 ? [plural(version, 'former version')] : []), `${left} skipped`, ...(files > 0 ? [`${plural(files, 'file')} skipped`] : [])]
    return [`  ${nameKind(kind)}: ${listed} read, ${parts.join(', ')}`]
  })
  const lists = [
    ...Object.entries(absent).map(([kind, reason]) => `  ${nameKind(kind)}: ${reason}`),
    ...skipped.map(({ kind, id, name, reason }) => `  ${nameKind(kind)}${id === null ? '' : ` ${id}`}${name === null ? '' : ` '${name}'`}: ${reason}`)
  ]
  const rest = report.skipped_count - skipped.length
  return [
    head,
    ...(error === null ? [] : [`Reason: ${error}`]),
    ...rows,
    ...(lists.length === 0 ? [] : ['Not imported:', ...lists, ...(rest > 0 ? [`  and ${rest} more`] : [])]),
    ...(warnings.length === 0 ? [] : ['Notice:', ...warnings.map((text) => `  ${text}`)])
  ].map((line) => `${terminalLine(line)}\n`).join('')
}
