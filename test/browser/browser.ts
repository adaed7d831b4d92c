import chromium from '@sparticuz/chromium'
import puppeteer, { type Browser } from 'puppeteer-core'

/** Flags for a browser as people have it, within a container. The flags of the package itself would switch off checks of origins. */
const FLAGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--force-color-profile=srgb', '--hide-scrollbars', '--lang=en']

/** Starts a headless Chromium. @returns null on a machine for which the package has no program */
export async function startBrowser (): Promise<Browser | null> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return null
  const executablePath = await chromium.executablePath()
  try {
    return await puppeteer.launch({ executablePath, args: FLAGS, headless: 'shell' })
  } catch (err) {
    // musl has no loader for a program of glibc.
    if (String(err).includes('ENOENT')) return null
    throw err
  }
}
