import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import ignore from '@balena/dockerignore'
import { type Copy, DockerfileParser, type From, type Instruction } from 'dockerfile-ast'
import { SERVER_DIR } from '../../../core/server-dir.ts'

export const DOCKERFILE = readFileSync(join(SERVER_DIR, 'Dockerfile'), 'utf8')

export interface Stage { name: string, platform: string | null, steps: Instruction[] }

/** Reads its build stages in order; the last one is the image. */
export function readStages (): Stage[] {
  const stages: Stage[] = []
  for (const instruction of DockerfileParser.parse(DOCKERFILE).getInstructions()) {
    if (instruction.getKeyword() === 'FROM') {
      const from = instruction as From
      const platform = from.getPlatformFlag()?.getValue() ?? null
      stages.push({ name: from.getBuildStage() ?? `${stages.length}`, platform, steps: [] })
    } else {
      stages.at(-1)?.steps.push(instruction)
    }
  }
  return stages
}

/** Returns the text after the keyword and its flags as one line, without comments between its lines. */
export function argumentsOf (instruction: Instruction): string {
  return (instruction.getRawArgumentsContent() ?? '').split('\n').filter((line) => !/^\s*#/.test(line))
    .map((line) => line.replace(/\\\s*$/, '').trim()).join(' ').trim()
}

/** Parses a command in the form `["a", "b"]`. */
export const wordsOf = (instruction: Instruction): string[] =>
  JSON.parse(argumentsOf(instruction).replace(/^CMD\s+/, '')) as string[]

export const sourceStageOf = (instruction: Instruction): string | null =>
  (instruction as Copy).getFromFlag()?.getValue() ?? null

const rules = ignore.default().add(readFileSync(join(SERVER_DIR, '.dockerignore'), 'utf8'))

/** True if `.dockerignore` lets this file into the build context. */
export const isSent = (path: string): boolean => !rules.ignores(path)

export function listContext (): string[] {
  const read = (folder: string) => readdirSync(join(SERVER_DIR, folder), { withFileTypes: true })
  const list = (folder: string): string[] => read(folder).flatMap((entry) => {
    const path = join(folder, entry.name)
    // These folders are never re-included, and are too large to list.
    if (entry.name === 'node_modules' || entry.name === '.git') return []
    return entry.isDirectory() ? list(path) : [path].filter(isSent)
  })
  return list('')
}
