import { isAbsolute } from 'node:path'

export interface Settings {
  port: number
  /** The secret that the server must send. */
  secret: string
  /** Folders with the only files that may be played. */
  roots: string[]
  /** Platform → core, such as `snes` → `bsnes_mercury_balanced`. */
  cores: ReadonlyMap<string, string>
  /** Program and arguments, in which {core}, {core_path} and {rom} are replaced. */
  emulator: string[]
  coresDir: string
  /** The port of RetroArch's commands: network_cmd_enable and network_cmd_port in its settings. */
  commandPort: number
  /** The folder in which RetroArch stores states. */
  statesDir: string
  volume: string[]
  mute: string[]
}

const EMULATOR = 'retroarch --fullscreen -L {core_path} {rom}'
const VOLUME = 'pactl set-sink-volume @DEFAULT_SINK@ {level}%'
const MUTE = 'pactl set-sink-mute @DEFAULT_SINK@ {mute}'

const words = (line: string) => line.split(/\s+/).filter(Boolean)

function readCores (line: string): Map<string, string> {
  return new Map(line.split(',').filter(Boolean).map((pair) => {
    const [platform = '', core = ''] = pair.split('=')
    if (!/^[\w-]+$/.test(platform) || !/^[\w-]+$/.test(core)) {
      throw new Error(`CORES holds '${pair}'; write pairs of platform and core, such as snes=bsnes_mercury_balanced,gba=mgba`)
    }
    return [platform.toLowerCase(), core]
  }))
}

/** @throws Error that says which variable is wrong */
export function readSettings (env: Readonly<Record<string, string | undefined>>): Settings {
  const { BROKER_SECRET: secret = '', ROOTS: roots = '/library,/assets' } = env
  if (secret === '') throw new Error('Set BROKER_SECRET to the broker_secret of the server')
  const folders = roots.split(',').filter(Boolean)
  const relative = folders.find((folder) => !isAbsolute(folder))
  if (relative !== undefined) throw new Error(`ROOTS holds '${relative}'; write absolute paths`)
  return {
    port: Number(env.PORT ?? 8_000),
    secret,
    roots: folders,
    cores: readCores(env.CORES ?? ''),
    emulator: words(env.EMULATOR ?? EMULATOR),
    coresDir: env.CORES_DIR ?? '/usr/lib/x86_64-linux-gnu/libretro',
    commandPort: Number(env.COMMAND_PORT ?? 55_355),
    statesDir: env.STATES_DIR ?? '/config/states',
    volume: words(env.VOLUME ?? VOLUME),
    mute: words(env.MUTE ?? MUTE)
  }
}
