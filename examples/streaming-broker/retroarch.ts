import { createSocket } from 'node:dgram'
import { setTimeout as pause } from 'node:timers/promises'

const ANSWER_MS = 1_000
/** RetroArch reads commands once per frame. */
const FRAME_MS = 50
const HOST = '127.0.0.1'

/** Creates the client for https://docs.libretro.com/development/retroarch/network-control-interface/ */
export function createCommands (port: number) {
  function send (command: string): Promise<void> {
    const socket = createSocket('udp4')
    return new Promise<void>((resolve, reject) => {
      socket.send(command, port, HOST, (err) => { if (err === null) resolve(); else reject(err) })
    }).finally(() => { socket.close() })
  }

  /** Sends a command and returns the response; null without a response. */
  function ask (command: string): Promise<string | null> {
    const socket = createSocket('udp4')
    return new Promise<string | null>((resolve) => {
      const late = setTimeout(() => { resolve(null) }, ANSWER_MS)
      socket.once('message', (message) => {
        clearTimeout(late)
        resolve(message.toString())
      })
      socket.once('error', () => { resolve(null) })
      socket.send(command, port, HOST)
    }).finally(() => { socket.close() })
  }

  let slot = 0

  /** Chooses a slot step by step, because every version supports that. */
  async function choose (wanted: number): Promise<void> {
    for (; slot < wanted; slot++) await step('STATE_SLOT_PLUS')
    for (; slot > wanted; slot--) await step('STATE_SLOT_MINUS')
  }
  async function step (command: string): Promise<void> {
    await send(command)
    await pause(FRAME_MS)
  }

  return {
    /** Resets the slot to 0, with which a new process begins. */
    reset (): void { slot = 0 },
    isPlaying: async (): Promise<boolean> => /^GET_STATUS (PLAYING|PAUSED)\b/.test(await ask('GET_STATUS') ?? ''),
    async saveState (wanted: number): Promise<void> {
      await choose(wanted)
      await step('SAVE_STATE')
    },
    async loadState (wanted: number): Promise<void> {
      await choose(wanted)
      await step('LOAD_STATE')
    }
  }
}
