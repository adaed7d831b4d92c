import type { BenchOptions } from './options.ts'

/** A value that must be reached. */
export interface Target {
  what: string
  is: number
  /** The minimum or the maximum. */
  least?: number
  most?: number
  unit?: string
}

export interface Measurement {
  name: string
  figures: Record<string, number | string>
  targets: Target[]
  /** Reasons why parts could not be measured. */
  notes: string[]
}

const round = (value: number) => Number(value.toPrecision(value >= 1_000 ? 5 : 3))

export const isMet = ({ is, least = -Infinity, most = Infinity }: Target) => is >= least && is <= most

function describeTarget (target: Target): string {
  const { what, is, least, most, unit = '' } = target
  const bound = least === undefined ? `at most ${most}` : `at least ${least}`
  return `${isMet(target) ? 'met   ' : 'MISSED'}  ${what} ${round(is)}${unit} (${bound}${unit})`
}

export function renderTable ({ name, figures, targets, notes }: Measurement): string {
  const rows = Object.entries(figures).map(([what, is]) =>
    `  ${what.padEnd(54)} ${(typeof is === 'number' ? String(round(is)) : is).padStart(12)}`)
  return [name, ...rows, ...targets.map((target) => `  ${describeTarget(target)}`), ...notes.map((note) => `  note: ${note}`)]
    .join('\n')
}

export function renderJson ({ name, figures, targets, notes }: Measurement): string {
  return JSON.stringify({
    name,
    figures: Object.fromEntries(Object.entries(figures).map(([what, is]) => [what, typeof is === 'number' ? round(is) : is])),
    targets: targets.map((target) => ({ ...target, is: round(target.is), met: isMet(target) })),
    notes
  })
}

const MISSED = 2

/** Prints the measurement. If targets are checked, the process exits with 2 after a missed one. */
export function report (measurement: Measurement, { json, check }: BenchOptions): void {
  console.log(json === true ? renderJson(measurement) : renderTable(measurement))
  if (check === true && !measurement.targets.every(isMet)) process.exitCode = MISSED
}
