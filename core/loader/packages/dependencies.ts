/** https://docs.npmjs.com/cli/configuring-npm/package-json#name; old names may contain capitals. */
const NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i

/** True if a text is a name of an npm package, and so a folder directly in `node_modules` or in a scope there. */
export const isPackageName = (name: string) => NAME.test(name)

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Returns the packages that a package.json needs at run time; the names are not checked. */
export const listDependencyNames = (
  { dependencies, optionalDependencies, peerDependencies }: Record<string, unknown>
): string[] =>
  [dependencies, optionalDependencies, peerDependencies].filter(isRecord).flatMap((names) => Object.keys(names))
