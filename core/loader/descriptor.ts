import type { ChannelDefinition, ExporterDefinition, PluginKind, ProviderDefinition } from '@svc/plugin-sdk'

/** A plugin as its process describes it: everything but its code. */
export interface Descriptor {
  kind: PluginKind
  /** The definition without its functions; see `pack`. */
  data: Record<string, unknown>
  /** The paths of the functions that the definition has. */
  methods: string[]
}

/** A plugin as its package exports it, with a kind and a definition that nobody checked yet. */
export interface UncheckedPlugin { kind: string, definition: object }

/** Returns the plugin that is a module's default export; null if the export is something else. */
export function readExport (exported: unknown): UncheckedPlugin | null {
  if (typeof exported !== 'object' || exported === null || !('kind' in exported) || !('definition' in exported)) return null
  const { kind, definition } = exported
  return typeof kind === 'string' && typeof definition === 'object' && definition !== null ? { kind, definition } : null
}

/** The members of a definition that are functions, optional ones included. */
type MethodOf<Definition> = {
  [Key in keyof Definition]-?: NonNullable<Definition[Key]> extends (...args: never[]) => unknown ? Key : never
}[keyof Definition]

/** The groups of a provider's definition that contain functions. */
type Groups = Required<Pick<ProviderDefinition, 'media' | 'index' | 'progress'>>

/** The paths of the functions in groups. */
type GroupMethod = { [Name in keyof Groups]: `${Name}.${MethodOf<Groups[Name]> & string}` }[keyof Groups]

/** All functions of the contract, including those that may also be plain data. */
type Method = MethodOf<ProviderDefinition> | MethodOf<ChannelDefinition> | MethodOf<ExporterDefinition> |
  GroupMethod | 'limits'

const CONTEXT_PLACES: Record<Method, number | null> = {
  identify: 1,
  getById: 2,
  search: 1,
  searchCovers: 1,
  suggest: 2,
  'media.fetch': 1,
  'media.accept': 2,
  'progress.read': 2,
  heartbeat: 0,
  'index.build': 0,
  limits: null,
  deliver: 2,
  confirm: 2,
  services: 0,
  parse: 1,
  check: 1,
  describe: null,
  destination: null,
  secretKeys: null,
  render: 3,
  missing: null,
  setup: 0,
  close: null
}

/** The position of the context among the arguments of each method that the host may call; null if there is none. */
export const METHODS: Readonly<Record<string, number | null>> = CONTEXT_PLACES

/** Schemas store their kind under symbols, which JSON drops. */
const SYMBOL = /^~(TypeBox\.\w+)$/
const symbolName = (symbol: symbol) => `~${symbol.description ?? ''}`

/** Returns data that JSON can hold, symbols of schemas included. */
export function pack (value: unknown): unknown {
  if (Array.isArray(value)) return (value as unknown[]).map(pack)
  if (typeof value !== 'object' || value === null) return value
  const symbols = Object.getOwnPropertySymbols(value).filter((symbol) => SYMBOL.test(symbolName(symbol)))
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined && typeof inner !== 'function')
  const all: [string, unknown][] = [
    ...entries.map(([key, inner]: [string, unknown]) => [key, pack(inner)] as [string, unknown]),
    ...symbols.map((symbol) => [symbolName(symbol), Reflect.get(value, symbol)] as [string, unknown])
  ]
  return Object.fromEntries(all)
}

/** Reverses `pack`. */
export function unpack (value: unknown): unknown {
  if (Array.isArray(value)) return (value as unknown[]).map(unpack)
  if (typeof value !== 'object' || value === null) return value
  const unpacked: Record<string, unknown> = {}
  for (const [key, inner] of Object.entries(value)) {
    const symbol = SYMBOL.exec(key)?.[1]
    Object.defineProperty(unpacked, symbol === undefined ? key : Symbol.for(symbol), {
      value: unpack(inner), enumerable: true, writable: true, configurable: true
    })
  }
  return unpacked
}

/** Returns a function of a definition by its path, bound to its object. */
export function findMethod (definition: object, path: string): ((...args: unknown[]) => unknown) | undefined {
  const [first = '', second] = path.split('.')
  const outer: unknown = Reflect.get(definition, first)
  if (second === undefined) return typeof outer === 'function' ? outer.bind(definition) as () => unknown : undefined
  if (typeof outer !== 'object' || outer === null) return undefined
  const inner: unknown = Reflect.get(outer, second)
  return typeof inner === 'function' ? inner.bind(outer) as () => unknown : undefined
}

export function describePlugin (kind: PluginKind, definition: object): Descriptor {
  return {
    kind,
    data: pack({ ...definition }) as Record<string, unknown>,
    methods: Object.keys(METHODS).filter((path) => findMethod(definition, path) !== undefined)
  }
}

/** Rebuilds a definition whose functions are those of `callOf`. Only methods of the contract become functions. */
export const rebuildDefinition = (
  { data, methods }: Descriptor, callOf: (method: string) => (...args: unknown[]) => unknown
): Record<string, unknown> => withMethods(
  unpack(data) as Record<string, unknown>, methods.filter((path) => Object.hasOwn(METHODS, path)), callOf)

/** Returns a copy of a definition in which the functions at these paths are those of `callOf`. */
export function withMethods<Definition extends object> (
  definition: Definition, paths: readonly string[], callOf: (method: string) => (...args: unknown[]) => unknown
): Definition {
  const copy = { ...definition }
  for (const path of paths) {
    const [first = '', second] = path.split('.')
    const outer: unknown = Reflect.get(copy, first)
    Reflect.set(copy, first, second === undefined ? callOf(path) : { ...outer as object, [second]: callOf(path) })
  }
  return copy
}
