import asyncHooks from 'node:async_hooks'
import { registerHooks, syncBuiltinESMExports } from 'node:module'

/** Loaded in each test file's process before what tap adds to the command line: takes away what tests would pay for. */

// It was for this process: what it starts is to run as it would without tests.
delete process.env.NODE_OPTIONS

// Types are stripped in place, so line numbers are right as they are; reading the maps of all libraries costs each test
// file a tenth of its start. The runner switches them on.
process.setSourceMapsEnabled(false)

// tap would note every file that a test loads, for `--changed`, and have each program that the test starts do the same,
// even one that may read nothing. Nothing else is looked up before that module, so the hook is gone when tests begin.
const hook = registerHooks({
  resolve (specifier, context, next) {
    if (!specifier.includes('/@tapjs/processinfo/')) return next(specifier, context)
    hook.deregister()
    return { url: 'data:text/javascript,', shortCircuit: true }
  }
})

// tap would follow every promise until it is collected, to know the test that an error which nobody caught belongs to;
// that is a quarter of the time of a file with many requests. The file fails by such an error without it.
asyncHooks.createHook = () => ({ enable () {}, disable () {} })
syncBuiltinESMExports()
