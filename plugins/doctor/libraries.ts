import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../core/config/config.ts'
import type { Queryable } from '../../core/database/db.ts'
import { selectFilled, selectLibraries } from '../library/library-rows.ts'
import { EMPTY_ROOT, findRootProblem } from '../library/root-problem.ts'
import { assignRows, readRoots } from '../library/roots.ts'
import { examineSpace, findWriteProblem } from './disk.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

type Root = ReturnType<typeof readRoots>[number]

const swapCase = (name: string) => name.replaceAll(/\p{L}/gu, (letter) =>
  letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase())

/** True if the disk is case-sensitive, tested with an existing name; null if no name allows the test. */
async function isCaseSensitive (dir: string): Promise<boolean | null> {
  for (const name of await readdir(dir)) {
    const twin = swapCase(name)
    if (twin === name) continue
    const [names, swapped] = await Promise.all([name, twin].map((one) => stat(join(dir, one)).catch(() => null)))
    return names === null ||
      swapped === null || names === undefined || swapped === undefined || names.ino !== swapped.ino
  }
  return null
}

async function describeCase (dir: string): Promise<string> {
  const isSensitive = await isCaseSensitive(dir)
  if (isSensitive === null) return ''
  return isSensitive ? '; its disk distinguishes capital letters in names' : '; its disk does not distinguish capital letters in names'
}

/** @param isFilled true if the database contains ROMs of the library */
async function examineRoot ({ name, dir, is_writable: isWritable }: Root, isFilled: boolean): Promise<Finding[]> {
  const subject = `library ${name}`
  const problem = await findRootProblem(dir)
  if (problem === EMPTY_ROOT && !isFilled) {
    return [warn(subject, `${dir} is empty`, 'Put ROMs into roms/<platform>, or check that its disk is mounted')]
  }
  if (problem !== null) {
    return [fail(subject, `${dir}: ${problem}`, 'Mount its disk, give this user the right to read it, or correct its path; ' +
      'until then its ROMs stay in the list, but their files cannot be read')]
  }
  const found = ok(subject, `${dir} can be read${await describeCase(dir)}`)
  if (!isWritable) return [found]
  const refusal = await findWriteProblem(dir)
  const space = await examineSpace(subject, dir)
  if (refusal === null) return [found, ...(space.status === 'ok' ? [] : [space])]
  return [found, warn(subject, `${dir} cannot be written: ${refusal.reason}`,
    `${refusal.remedy}, or set its writable to false; until then uploads, renames and exports into it fail`)]
}

/** @param pool null if the database cannot say which libraries contain ROMs */
export async function examineLibraries (config: Config, pool: Queryable | null): Promise<Finding[]> {
  const roots = readRoots(config)
  const [rows, filled] = pool === null
    ? [[], new Set<number>()]
    : await Promise.all([selectLibraries(pool), selectFilled(pool)])
  const assigned = assignRows(roots, rows)
  const found = await Promise.all(roots.map((root, place) => examineRoot(root, filled.has(assigned[place]?.id ?? 0))))
  return found.flat()
}
