// Drives `envisa debug --dap` by Microsoft's test client, and holds each message, both ways, against the protocol's JSON schema.
import { DebugClient } from '@vscode/debugadapter-testsupport';
import Ajv from 'ajv';
import { createGenerator } from 'ts-json-schema-generator';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createRequire } from 'node:module';

const here = process.env.ENVISA_EDITOR_TESTS;
const log = path.join(os.tmpdir(), `envisa-dap-${process.pid}.jsonl`);
process.env.ENVISA_DAP_LOG = log;
fs.writeFileSync(log, '');
const file = path.join(here, 'blur.cl');
const job = path.join(here, 'job.toml');
const line = (text, name = 'blur.cl') => fs.readFileSync(path.join(here, name), 'utf8').split('\n').findIndex((l) => l.includes(text)) + 1;

let passed = 0;
const slow = [];
const test = async (name, body, config = {}) => {
  const dc = new DebugClient('node', path.join(here, 'proxy.mjs'), 'envisa', { env: process.env, stdio: 'pipe' });
  dc.defaultTimeout = 30000;
  await dc.start();
  try {
    await body(dc, { program: job, ...config });
    passed++;
    console.log(`ok   ${name}`);
  } catch (e) {
    console.log(`FAIL ${name}: ${e.stack}`);
    process.exitCode = 1;
  } finally {
    await dc.stop();
  }
};
const stopped = (dc, reason) => dc.waitForEvent('stopped').then((e) => { if (reason) assert.equal(e.body.reason, reason); return e; });
const move = async (dc, command, args, reason) => {
  const wait = stopped(dc, reason);
  await dc.send(command, args);
  return wait;
};
const top = async (dc, threadId) => (await dc.stackTraceRequest({ threadId })).body.stackFrames[0];
const value = async (dc, expression, frameId) => (await dc.evaluateRequest({ expression, frameId, context: 'watch' })).body.result;
// Sets breakpoints by `set`, runs to the first stop, and gives its event.
const begin = async (dc, config, set, reason) => {
  const wait = stopped(dc, reason);
  await Promise.all([
    dc.waitForEvent('initialized').then(() => set()).then(() => dc.configurationDoneRequest()),
    dc.initializeRequest().then(() => dc.launchRequest(config)),
  ]);
  return wait;
};
const lines = (dc, breakpoints) => () => dc.setBreakpointsRequest({ source: { path: file }, breakpoints });

await test('breakpoint, stack, scopes, variables of a lane', async (dc, config) => {
  await dc.hitBreakpoint(config, { path: file, line: line('float mean') });
  const threads = (await dc.threadsRequest()).body.threads;
  assert.match(threads[0].name, /group 0,0,0 thread 0: work-items 0 \.\. 7/);
  const frame = await top(dc, 1);
  const scopes = (await dc.scopesRequest({ frameId: frame.id })).body.scopes;
  assert.deepEqual(scopes.map((s) => s.name).slice(1), ['All lanes', 'Arguments', 'Local memory', 'vISA registers', 'Flags and masks', 'Buffers']);
  for (const s of scopes) await dc.variablesRequest({ variablesReference: s.variablesReference });
  const own = (await dc.variablesRequest({ variablesReference: scopes[0].variablesReference })).body.variables;
  assert.equal(own.find((v) => v.name === 'total').value, '1.5');
  const lanes = (await dc.variablesRequest({ variablesReference: scopes[1].variablesReference })).body.variables;
  const sums = (await dc.variablesRequest({ variablesReference: lanes.find((v) => v.name === 'sum').variablesReference })).body.variables;
  assert.equal(sums[3].value, '5.0');
  await dc.evaluateRequest({ expression: 'lane 7', context: 'repl' });
  assert.equal(await value(dc, 'i', frame.id), '7');
  assert.equal(await value(dc, 'in[i] * 2 + (int)1.5f', frame.id), '15.0');
  const buffer = (await dc.evaluateRequest({ expression: 'out', context: 'hover', frameId: frame.id })).body;
  const memory = await dc.send('readMemory', { memoryReference: buffer.memoryReference ?? buffer.result, count: 8 });
  assert.equal(memory.body.data.length, 12);
  const t = Date.now();
  await dc.send('disassemble', { memoryReference: frame.instructionPointerReference, instructionCount: 200, instructionOffset: -20 });
  slow.push(Date.now() - t);
});

await test('condition, hit count, logpoint', async (dc, config) => {
  const said = [];
  dc.on('output', (e) => said.push(e.body.output));
  const e = await begin(dc, config, lines(dc, [
    { line: line('sum +='), condition: 'i == 11 && d == 1' },
    { line: line('total += w'), logMessage: 'w = {w}', condition: 'i == 2' },
  ]), 'breakpoint');
  const frame = await top(dc, e.body.threadId);
  assert.equal(await value(dc, 'i * 10 + d', frame.id), '111');
  assert.equal(said.filter((s) => s.includes('work-item 2: w = ')).length, 2);
});

await test('each lane counts its own hits', async (dc, config) => {
  const e = await begin(dc, config, lines(dc, [{ line: line('sum +='), hitCondition: '2' }]), 'breakpoint');
  const at = async (threadId) => value(dc, 'i * 10 + d', (await top(dc, threadId)).id);
  assert.equal(await at(e.body.threadId), '1');
  // A change of the file's breakpoints does not begin the count again.
  const refused = (await lines(dc, [{ line: line('sum +='), hitCondition: '2' }, { line: line('out[i]'), hitCondition: 'often' }])()).body.breakpoints[1];
  assert.ok(!refused.verified && /not a hit count/.test(refused.message), refused.message);
  const next = await move(dc, 'continue', { threadId: 1 }, 'breakpoint');
  assert.equal(await at(next.body.threadId), '81');
  const back = await move(dc, 'reverseContinue', { threadId: 1 }, 'breakpoint');
  assert.equal(await at(back.body.threadId), '1');
  await lines(dc, [{ line: line('sum +='), hitCondition: '>=3' }])();
  const ended = dc.waitForEvent('terminated');
  await dc.continueRequest({ threadId: 1 });
  await ended;
});

await test('steps both ways, in and out', async (dc, config) => {
  const e = await begin(dc, config, lines(dc, [{ line: line('float w = weight') }]), 'breakpoint');
  const threadId = e.body.threadId;
  const start = await top(dc, threadId);
  await move(dc, 'stepIn', { threadId }, 'step');
  const frames = (await dc.stackTraceRequest({ threadId })).body.stackFrames;
  assert.deepEqual(frames.map((f) => f.name), ['weight', 'blur']);
  await move(dc, 'stepOut', { threadId }, 'step');
  await move(dc, 'next', { threadId }, 'step');
  const after = await top(dc, threadId);
  assert.equal(after.line, line('sum +='));
  assert.equal(await value(dc, 'w', after.id), '1.0');
  await move(dc, 'stepBack', { threadId }, 'step');
  assert.equal((await top(dc, threadId)).line, start.line);
  await move(dc, 'next', { threadId, granularity: 'instruction' }, 'step');
  await move(dc, 'stepBack', { threadId, granularity: 'instruction' }, 'step');
  const again = await top(dc, threadId);
  assert.equal(again.instructionPointerReference, start.instructionPointerReference);
  await dc.setBreakpointsRequest({ source: { path: file }, breakpoints: [] });
  await move(dc, 'reverseContinue', { threadId }, 'entry');
});

await test('where a value came from; changes', async (dc, config) => {
  const e = await begin(dc, config, lines(dc, [{ line: line('out[i] = mean'), condition: 'mean != mean' }]), 'breakpoint');
  const frame = await top(dc, e.body.threadId);
  assert.equal(await value(dc, 'i', frame.id), '15');
  assert.equal(await value(dc, 'mean', frame.id), 'nan');
  const origin = (await dc.evaluateRequest({ expression: 'origin mean', context: 'repl' })).body.result;
  assert.match(origin, /blur\.cl:19 .*work-item 15/);
  assert.match(origin, /`sum` of blur/);
  assert.match(origin, /`total` of blur/);
  const [scope] = (await dc.scopesRequest({ frameId: frame.id })).body.scopes;
  await dc.setVariableRequest({ variablesReference: scope.variablesReference, name: 'mean', value: '2.5f' });
  assert.equal(await value(dc, 'mean', (await top(dc, e.body.threadId)).id), '2.5');
  await move(dc, 'next', { threadId: e.body.threadId });
  assert.equal(await value(dc, 'out[15]', (await top(dc, e.body.threadId)).id), '2.5');
});

await test('data breakpoint, forwards and back', async (dc, config) => {
  const e = await begin(dc, config, lines(dc, [{ line: line('int i =') }]), 'breakpoint');
  const frame = await top(dc, e.body.threadId);
  await dc.setBreakpointsRequest({ source: { path: file }, breakpoints: [] });
  const info = (await dc.send('dataBreakpointInfo', { name: 'out[9]', frameId: frame.id })).body;
  assert.ok(info.dataId);
  const set = await dc.send('setDataBreakpoints', { breakpoints: [{ dataId: info.dataId, accessType: 'write' }] });
  assert.ok(set.body.breakpoints[0].verified);
  const hit = await move(dc, 'continue', { threadId: 1 }, 'data breakpoint');
  assert.match(hit.body.text, /work-item 9 at line 20/);
  await move(dc, 'reverseContinue', { threadId: 1 }, 'data breakpoint');
});

await test('a NaN stops it; function and instruction breakpoints; restart', async (dc, config) => {
  const e = await begin(dc, config, async () => {
    await dc.setExceptionBreakpointsRequest({ filters: ['nan'] });
    await dc.setFunctionBreakpointsRequest({ breakpoints: [{ name: 'weight', condition: 'distance == 1' }, { name: 'nobody' }] });
  }, 'function breakpoint');
  const frame = await top(dc, e.body.threadId);
  assert.equal(frame.name, 'weight');
  await dc.setFunctionBreakpointsRequest({ breakpoints: [] });
  const nan = await move(dc, 'continue', { threadId: 1 }, 'exception');
  assert.match(nan.body.text, /work-item 15 made a NaN/);
  await dc.send('exceptionInfo', { threadId: nan.body.threadId });
  await dc.setExceptionBreakpointsRequest({ filters: [] });
  await dc.send('setInstructionBreakpoints', { breakpoints: [{ instructionReference: frame.instructionPointerReference }] });
  await move(dc, 'restart', {}, 'instruction breakpoint');
});

const turn = { program: path.join(here, 'turn.cl'), device: 'dg2', global: [16], local: [16], args: { out: 'zeros:i32:16', l: 'local:64' } };
await test('findings of the kinds that are wanted stop it, forwards and back', async (dc, config) => {
  const answered = dc.waitForEvent('initialized');
  const capabilities = (await dc.initializeRequest()).body;
  const filters = capabilities.exceptionBreakpointFilters.map((f) => f.filter);
  assert.ok(['fault', 'nan', 'F0002', 'F0004', 'F0008', 'F0025'].every((f) => filters.includes(f)), filters.join());
  await Promise.all([answered, dc.launchRequest(config)]);
  await dc.setExceptionBreakpointsRequest({ filters: ['fault', 'F0004'] });
  const first = await move(dc, 'configurationDone', {}, 'exception');
  assert.match(first.body.text, /F0004 a data race for local variable l|F0004 a data race/);
  const frame = await top(dc, first.body.threadId);
  assert.ok([line('l[i] = i', 'turn.cl'), line('= l[15 - i]', 'turn.cl')].includes(frame.line), `${frame.line}`);
  assert.equal((await dc.send('exceptionInfo', { threadId: first.body.threadId })).body.exceptionId, 'F0004');
  const second = await move(dc, 'continue', { threadId: 1 }, 'exception');
  assert.notEqual(second.body.text, first.body.text);
  const back = await move(dc, 'reverseContinue', { threadId: 1 }, 'exception');
  assert.equal(back.body.text, first.body.text);
  await dc.setExceptionBreakpointsRequest({ filters: [] });
  await move(dc, 'reverseContinue', { threadId: 1 }, 'entry');
}, turn);

await test('a fault stops it, with its words', async (dc, config) => {
  const e = await begin(dc, config, () => {}, 'exception');
  assert.match(e.body.text, /F00/);
  const info = await dc.send('exceptionInfo', { threadId: e.body.threadId });
  assert.match(info.body.exceptionId, /^F00/);
  assert.equal((await top(dc, e.body.threadId)).name, 'blur');
}, { args: { in: 'iota:f32:16', out: 'zeros:f32:4', n: 16 } });

await test('what makes no sense is an error in words, and the session lives', async (dc, config) => {
  const e = await begin(dc, config, lines(dc, [{ line: line('float mean') }]), 'breakpoint');
  const frame = await top(dc, e.body.threadId);
  const refused = [
    ['evaluate', { expression: 'mean +', frameId: frame.id }], ['evaluate', { expression: '*(int*)1', frameId: frame.id }],
    ['evaluate', { expression: '('.repeat(3000), frameId: frame.id }], ['evaluate', { expression: 'i', frameId: 4000000 }],
    ['variables', { variablesReference: 99999 }], ['stackTrace', { threadId: 77 }], ['setVariable', { variablesReference: 0, name: 'x', value: '1' }],
    ['writeMemory', { memoryReference: '0x1', data: 'AAAA' }], ['disassemble', { memoryReference: 'x', instructionCount: 5 }],
    ['source', { sourceReference: 12345 }], ['nonsense', {}], ['next', { threadId: 55 }],
  ];
  for (const [command, args] of refused) {
    await assert.rejects(dc.send(command, args), (why) => why.message.length > 5, command);
  }
  await dc.setBreakpointsRequest({ source: { path: file }, breakpoints: [] });
  const ended = dc.waitForEvent('terminated');
  await dc.continueRequest({ threadId: 1 });
  await ended;
});

// Each message, both ways, against the protocol's own JSON schema, as Microsoft packs it in debugpy, and against the types that the
// protocol's newer package declares.
const types = createRequire(import.meta.url).resolve('@vscode/debugprotocol/lib/debugProtocol.d.ts');
const names = [...new Set([...fs.readFileSync(types, 'utf8').matchAll(/interface (\w+(?:Request|Response|Event)) /g)].map((m) => m[1]))];
const all_types = path.join(os.tmpdir(), `envisa-dap-${process.pid}.ts`);
fs.writeFileSync(all_types, `import { DebugProtocol as D } from ${JSON.stringify(types.replace(/\.d\.ts$/, ''))};\nexport interface All { ${names.map((n) => `${n}: D.${n};`).join(' ')} }\n`);
const schema = createGenerator({ path: all_types, type: 'All', skipTypeCheck: true, additionalProperties: true, topRef: true, expose: 'all' }).createSchema('All');
fs.unlinkSync(all_types);
const ajv = new Ajv({ strict: false, allErrors: true });
ajv.addSchema({ $id: 'dap', definitions: schema.definitions });
const own = JSON.parse(fs.readFileSync(process.env.ENVISA_DAP_SCHEMA, 'utf8'));
ajv.addSchema({ $id: 'own', definitions: own.definitions });
assert.ok(own.title === 'Debug Adapter Protocol' && own.definitions.StackTraceResponse, 'it is another schema');
const upper = (s) => s[0].toUpperCase() + s.slice(1);
const all = fs.readFileSync(log, 'utf8').trim().split('\n').map((l) => JSON.parse(l));
let checked = 0;
for (const { who, message } of all) {
  if (['envisa/focus', 'envisa/lanes', 'nonsense'].includes(message.command)) continue;
  const kind = { request: 'Request', event: 'Event', response: message.success ? 'Response' : 'ErrorResponse' }[message.type];
  const name = kind === 'ErrorResponse' ? kind : upper(message.command ?? message.event) + kind;
  const validate = names.includes(name) && ajv.getSchema(`dap#/definitions/All/properties/${name}`);
  assert.ok(validate, `${who} sent ${name}, which the protocol does not have`);
  assert.ok(validate(message), `${who} sent ${JSON.stringify(message)}: ${ajv.errorsText(validate.errors)}`);
  const schema = ajv.getSchema(`own#/definitions/${name}`);
  assert.ok(schema, `${who} sent ${name}, which the protocol's schema does not have`);
  assert.ok(schema(message), `${who} sent ${JSON.stringify(message)}: ${ajv.errorsText(schema.errors)}`);
  checked++;
}
assert.ok(checked > 200, `${checked} messages only`);
console.log(`ok   ${checked} messages are as the protocol has them; 200 instructions are disassembled in ${Math.max(...slow)} ms`);
fs.unlinkSync(log);
