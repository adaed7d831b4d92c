import satisfies from 'semver/functions/satisfies.js'

/**
 * The releases of Node that run plugins of the community. Older ones let code past the permission model
 * (https://nodejs.org/en/blog/vulnerability), or load wrong modules through hooks (before 24.9).
 */
export const NODE_LEVEL = '>=24.17.0 <25 || >=26.3.1'

export const canConfine = (version = process.versions.node) => satisfies(version, NODE_LEVEL)
