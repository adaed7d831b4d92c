import { execFileSync } from 'node:child_process'

/** True if this machine has Python with its module for zips. */
export const PYTHON = (() => {
  try {
    execFileSync('python3', ['-c', 'import zipfile'])
    return true
  } catch {
    return false
  }
})()

/** Runs a script that may use `zipfile`. @returns its output */
export function python (script: string, ...args: string[]): string {
  return execFileSync('python3', ['-c', `import sys, zipfile\n${script}`, ...args], { encoding: 'utf8' }).trim()
}
