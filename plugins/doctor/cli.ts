import type { Features } from '../../core/feature.ts'
import { examineAll } from './examine.ts'
import { type Finding, STATUSES } from './finding.ts'

export interface DoctorOptions { json?: boolean, mail?: string, full?: boolean }

const FAILURE = 1

function renderFinding ({ status, subject, message, remedy, lines }: Finding, width: number): string {
  const indent = ' '.repeat(width + 8)
  return [
    `${status.padEnd(4)}  ${subject.padEnd(width)}  ${message}`,
    ...(remedy === null ? [] : [`${indent}→ ${remedy}`]),
    ...lines.map((line) => `${indent}  ${line}`)
  ].join('\n')
}

function summarise (findings: readonly Finding[]): string {
  const [, warned, failed] = STATUSES.map((status) => findings.filter((finding) => finding.status === status).length)
  return failed === 0 && warned === 0 ? 'All checks passed.' : `${failed} failed, ${warned} with a warning.`
}

/** Runs `svc doctor`. @returns the exit code */
export async function examine (features: Features, options: DoctorOptions): Promise<number> {
  const findings = await examineAll(features, { mailTo: options.mail ?? null, isFull: options.full === true })
  const width = Math.max(...findings.map(({ subject }) => subject.length))
  const text = options.json === true
    ? findings.map((finding) => `${JSON.stringify(finding)}\n`).join('')
    : `${findings.map((finding) => renderFinding(finding, width)).join('\n')}\n\n${summarise(findings)}\n`
  await new Promise((resolve) => { process.stdout.write(text, resolve) })
  return findings.some(({ status }) => status === 'fail') ? FAILURE : 0
}
