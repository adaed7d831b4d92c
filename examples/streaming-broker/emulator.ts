import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, realpath } from 'node:fs/promises'
import { basename, extname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { createCommands } from './retroarch.ts'
import type { Settings } from './settings.ts'

const END_MS = 20_000
/** The slot for the state that a player brings. */
const BROUGHT_SLOT = 0

export interface Launch { rom_path: string, platform: string, state_path?: string | undefined }

export interface Progress {
  status: 'launching' | 'running' | 'failed'
  phase: string | null
  detail: string | null
  core: string | null
  core_tier: 'default' | null
  resume: boolean | null
}

/** An error for a request that cannot be carried out; the message says why. */
export class Refused extends Error {
  override readonly name = 'Refused'
}

interface Game { child: ChildProcess, core: string, state: string | null, resume: boolean | null, isReady: boolean }

const fill = (template: readonly string[], values: Readonly<Record<string, string>>): string[] =>
  template.map((word) => word.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole))

const isOver = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null

/** Runs one emulator at a time. */
export function createEmulator (settings: Settings) {
  const commands = createCommands(settings.commandPort)
  let game: Game | null = null

  /** Returns the real path of a file, if that file may be played. */
  async function resolveFile (path: string): Promise<string> {
    const real = await realpath(path).catch(() => {
      throw new Refused(`'${basename(path)}' is not on this machine; see that the library is mounted where library_path says`)
    })
    const isInside = settings.roots.some((root) => !relative(root, real).startsWith('..'))
    if (!isInside) throw new Refused(`'${basename(path)}' lies in none of the folders of ROOTS`)
    return real
  }

  async function run (template: readonly string[], values: Record<string, string>): Promise<void> {
    const [program = '', ...args] = fill(template, values)
    await promisify(execFile)(program, args)
  }

  function requireGame (): Game {
    if (game === null || isOver(game.child)) throw new Refused('Nothing is played on this machine')
    return game
  }

  async function stop (): Promise<boolean> {
    const ended = game?.child
    game = null
    if (ended === undefined || isOver(ended)) return false
    const late = setTimeout(() => { ended.kill('SIGKILL') }, END_MS)
    const end = once(ended, 'exit')
    // RetroArch writes the game's memory before it exits.
    ended.kill('SIGTERM')
    await end
    clearTimeout(late)
    return ended.signalCode !== 'SIGKILL'
  }

  /** Copies a state to the folder in which RetroArch looks for the state of the slot. */
  async function putState (rom: string, path: string): Promise<void> {
    await mkdir(settings.statesDir, { recursive: true })
    await copyFile(path, join(settings.statesDir, `${basename(rom, extname(rom))}.state`))
  }

  async function begin (rom: string, core: string): Promise<ChildProcess> {
    const [program = '', ...args] = fill(settings.emulator, {
      rom, core, core_path: join(settings.coresDir, `${core}_libretro.so`)
    })
    const child = spawn(program, args, { stdio: 'inherit' })
    child.on('error', () => { /* the exit event reports the error */ })
    await Promise.race([once(child, 'spawn'), once(child, 'error').then(([err]: unknown[]) => {
      throw new Refused(`The emulator cannot be run: ${(err as Error).message}`)
    })])
    return child
  }

  return {
    /**
     * Ends the running game and starts another one.
     *
     * @throws Refused
     */
    async launch ({ rom_path: path, platform, state_path: statePath }: Launch): Promise<void> {
      const core = settings.cores.get(platform.toLowerCase())
      if (core === undefined) throw new Refused(`No core is set for the platform '${platform}'; add it to CORES`)
      const rom = await resolveFile(path)
      const state = statePath === undefined ? null : await resolveFile(statePath).catch(() => null)
      await stop()
      if (state !== null) await putState(rom, state)
      commands.reset()
      const resume = statePath === undefined ? null : false
      game = { child: await begin(rom, core), core, state, resume, isReady: false }
    },

    async progress (): Promise<Progress> {
      const none = { phase: null, detail: null, core: null, core_tier: null, resume: null }
      if (game === null) return { ...none, status: 'failed', detail: 'Nothing was started' }
      if (isOver(game.child)) {
        return { ...none, status: 'failed', detail: `The emulator ended with ${game.child.exitCode ?? game.child.signalCode}` }
      }
      if (!game.isReady && !await commands.isPlaying()) return { ...none, status: 'launching', phase: 'starting' }
      if (!game.isReady && game.state !== null) {
        await commands.loadState(BROUGHT_SLOT)
        game.resume = true
      }
      game.isReady = true
      return { ...none, status: 'running', core: game.core, core_tier: 'default', resume: game.resume }
    },

    stop,

    /** @returns true if the game was saved and exited by itself */
    async saveAndExit (slot: number): Promise<boolean> {
      requireGame()
      if (slot > 0) await commands.saveState(slot)
      return await stop()
    },

    async saveState (slot: number): Promise<void> {
      requireGame()
      await commands.saveState(slot)
    },

    async loadState (slot: number): Promise<void> {
      requireGame()
      await commands.loadState(slot)
    },

    setVolume: (level: number): Promise<void> => run(settings.volume, { level: String(level) }),
    setMute: (mute: boolean): Promise<void> => run(settings.mute, { mute: mute ? '1' : '0' })
  }
}
export type Emulator = ReturnType<typeof createEmulator>
