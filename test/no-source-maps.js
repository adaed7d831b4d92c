// Types are stripped in place, so line numbers are right as they are; reading the maps of all libraries costs each test
// file a tenth of its start. The runner switches them on.
process.setSourceMapsEnabled(false)

/** The registry of what tap does to every process that a test starts. */
const spawning = globalThis[Symbol.for('process-on-spawn@*:singletonId')]
// tap has them, and all that they start, load a module of its own, which a process that may read nothing cannot do.
spawning?.listeners.push((options) => {
  options.env = Object.fromEntries(Object.entries(options.env)
    .filter(([name]) => !['NODE_OPTIONS', 'NODE_V8_COVERAGE'].includes(name) && !name.startsWith('_TAPJS_')))
})

// A process that is forked takes the command line over, with the modules of tap that would count every line it runs.
process.execArgv = process.execArgv.filter((argument) => !argument.includes('@tapjs') && argument !== '--enable-source-maps')

// Processes that the server starts take over this flag, so they load code without types, as on a real server. Otherwise
// each would load a compiler, which takes longer than most of their work here.
const { SVC_TEST_STRIPPED: stripped } = process.env
if (stripped && !process.execArgv.includes(stripped)) process.execArgv.push(stripped)
