import { execFileSync } from 'node:child_process'
import { buffer } from 'node:stream/consumers'
import yauzl from 'yauzl'
import { type Zip } from '../../../plugins/roms/downloads/zip.ts'

export const whole = (zip: Zip) => buffer(zip.read(0, zip.size))

export function openZip (bytes: Buffer): Promise<yauzl.ZipFile> {
  return new Promise((resolve, reject) => {
    yauzl.fromBuffer(bytes, { lazyEntries: true }, (err, zip) => { if (err === null) resolve(zip); else reject(err) })
  })
}

export const PYTHON = (() => {
  try {
    execFileSync('python3', ['-c', 'import zipfile'])
    return true
  } catch {
    return false
  }
})()

export function python (script: string, ...args: string[]): string {
  return execFileSync('python3', ['-c', `import sys, zipfile\n${script}`, ...args], { encoding: 'utf8' }).trim()
}
