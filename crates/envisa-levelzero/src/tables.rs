//! The tables that the loader asks for: every entry point of the interface by name, in the order of the tables, with
//! the minor version of the interface that brought it. Those that [`crate::api`] has are put in; the others answer that
//! they are not supported, and say so in the log.
#![allow(unsafe_code, non_snake_case)]

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::OnceLock;

use crate::api;
use crate::core::error::Error;

/// A place of a table.
struct Slot {
    name: &'static str,
    /// Minor version of the first interface that has it.
    since: u32,
    stub: extern "C" fn() -> u32,
}

/// Older loaders have another order of some entries.
const OLDEST: u32 = 1 << 16 | 4;

/// An entry point that is not there.
fn missing_entry_point(name: &str) -> u32 {
    if envisa_runtime::log::log_settings().api {
        envisa_runtime::log::line(&format!(
            "{name}() = {} [it is not there]",
            Error::UNSUPPORTED_FEATURE.name()
        ));
    }
    Error::UNSUPPORTED_FEATURE.0
}

fn implemented_functions() -> &'static HashMap<&'static str, usize> {
    static ALL: OnceLock<HashMap<&'static str, usize>> = OnceLock::new();
    ALL.get_or_init(|| api::all_entry_points().map(|e| (e.name, e.address as usize)).collect())
}

/// The entry points that are implemented, with names and types of their parameters: what tests pass is made of them.
pub fn signatures() -> impl Iterator<Item = (&'static str, &'static [(&'static str, &'static str)])> {
    api::all_entry_points().map(|e| (e.name, e.parameters))
}

/// Fills a table of a loader that has this version of the interface.
///
/// # Safety
/// The table has the entries of that version.
unsafe fn fill(version: u32, table: *mut *const c_void, slots: &[Slot]) -> u32 {
    if table.is_null() {
        return Error::INVALID_NULL_POINTER.0;
    }
    if version < OLDEST || version >> 16 != OLDEST >> 16 {
        return Error::UNSUPPORTED_VERSION.0;
    }
    for (i, slot) in slots.iter().enumerate().filter(|(_, s)| s.since <= version & 0xffff) {
        let function = implemented_functions().get(slot.name).copied().unwrap_or(slot.stub as usize);
        // SAFETY: promised by the caller: entries are only added at the ends of tables.
        unsafe { table.add(i).write(function as *const c_void) };
    }
    0
}

macro_rules! tables {
    ($($get:ident { $($since:literal $name:ident),* $(,)? })*) => {
        $(
            /// Fills one of the loader's tables.
            ///
            /// # Safety
            /// The table has the entries of that version of the interface.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $get(version: u32, table: *mut *const c_void) -> u32 {
                let slots = [$(Slot {
                    name: stringify!($name),
                    since: $since,
                    stub: {
                        extern "C" fn stub() -> u32 {
                            missing_entry_point(stringify!($name))
                        }
                        stub
                    },
                }),*];
                // SAFETY: promised by the caller.
                unsafe { fill(version, table, &slots) }
            }
        )*
        /// Every name of the tables.
        #[cfg(test)]
        const NAMES: &[&str] = &[$($(stringify!($name)),*),*];
    };
}

tables! {
    zeGetRTASBuilderProcAddrTable {
        13 zeRTASBuilderCreateExt, 13 zeRTASBuilderGetBuildPropertiesExt, 13 zeRTASBuilderBuildExt,
        13 zeRTASBuilderCommandListAppendCopyExt, 13 zeRTASBuilderDestroyExt,
    }
    zeGetRTASBuilderExpProcAddrTable {
        7 zeRTASBuilderCreateExp, 7 zeRTASBuilderGetBuildPropertiesExp, 7 zeRTASBuilderBuildExp,
        7 zeRTASBuilderDestroyExp,
    }
    zeGetRTASParallelOperationProcAddrTable {
        13 zeRTASParallelOperationCreateExt, 13 zeRTASParallelOperationGetPropertiesExt,
        13 zeRTASParallelOperationJoinExt, 13 zeRTASParallelOperationDestroyExt,
    }
    zeGetRTASParallelOperationExpProcAddrTable {
        7 zeRTASParallelOperationCreateExp, 7 zeRTASParallelOperationGetPropertiesExp,
        7 zeRTASParallelOperationJoinExp, 7 zeRTASParallelOperationDestroyExp,
    }
    zeGetGlobalProcAddrTable {
        0 zeInit, 11 zeInitDrivers,
    }
    zeGetDriverProcAddrTable {
        0 zeDriverGet, 0 zeDriverGetApiVersion, 0 zeDriverGetProperties, 0 zeDriverGetIpcProperties,
        0 zeDriverGetExtensionProperties, 1 zeDriverGetExtensionFunctionAddress,
        6 zeDriverGetLastErrorDescription, 13 zeDriverRTASFormatCompatibilityCheckExt,
        14 zeDriverGetDefaultContext,
    }
    zeGetDriverExpProcAddrTable {
        7 zeDriverRTASFormatCompatibilityCheckExp,
    }
    zeGetDeviceProcAddrTable {
        0 zeDeviceGet, 0 zeDeviceGetSubDevices, 0 zeDeviceGetProperties, 0 zeDeviceGetComputeProperties,
        0 zeDeviceGetModuleProperties, 0 zeDeviceGetCommandQueueGroupProperties,
        0 zeDeviceGetMemoryProperties, 0 zeDeviceGetMemoryAccessProperties, 0 zeDeviceGetCacheProperties,
        0 zeDeviceGetImageProperties, 0 zeDeviceGetExternalMemoryProperties, 0 zeDeviceGetP2PProperties,
        0 zeDeviceCanAccessPeer, 0 zeDeviceGetStatus, 1 zeDeviceGetGlobalTimestamps,
        2 zeDeviceReserveCacheExt, 2 zeDeviceSetCacheAdviceExt, 3 zeDevicePciGetPropertiesExt,
        7 zeDeviceGetRootDevice, 12 zeDeviceImportExternalSemaphoreExt,
        12 zeDeviceReleaseExternalSemaphoreExt, 13 zeDeviceGetVectorWidthPropertiesExt,
        14 zeDeviceSynchronize, 15 zeDeviceGetAggregatedCopyOffloadIncrementValue,
        16 zeDeviceGetRuntimeRequirements, 16 zeDeviceGetRuntimeRequirementsKey,
        16 zeDeviceValidateRuntimeRequirements, 17 zeDeviceGetCounterBasedEventMaxValue,
    }
    zeGetDeviceExpProcAddrTable {
        4 zeDeviceGetFabricVertexExp,
    }
    zeGetContextProcAddrTable {
        0 zeContextCreate, 0 zeContextDestroy, 0 zeContextGetStatus, 0 zeContextSystemBarrier,
        0 zeContextMakeMemoryResident, 0 zeContextEvictMemory, 0 zeContextMakeImageResident,
        0 zeContextEvictImage, 1 zeContextCreateEx,
    }
    zeGetCommandQueueProcAddrTable {
        0 zeCommandQueueCreate, 0 zeCommandQueueDestroy, 0 zeCommandQueueExecuteCommandLists,
        0 zeCommandQueueSynchronize, 9 zeCommandQueueGetOrdinal, 9 zeCommandQueueGetIndex,
        17 zeCommandQueueGetFlags, 17 zeCommandQueueGetMode, 17 zeCommandQueueGetPriority,
    }
    zeGetCommandListProcAddrTable {
        0 zeCommandListCreate, 0 zeCommandListCreateImmediate, 0 zeCommandListDestroy, 0 zeCommandListClose,
        0 zeCommandListReset, 0 zeCommandListAppendWriteGlobalTimestamp, 0 zeCommandListAppendBarrier,
        0 zeCommandListAppendMemoryRangesBarrier, 0 zeCommandListAppendMemoryCopy,
        0 zeCommandListAppendMemoryFill, 0 zeCommandListAppendMemoryCopyRegion,
        0 zeCommandListAppendMemoryCopyFromContext, 0 zeCommandListAppendImageCopy,
        0 zeCommandListAppendImageCopyRegion, 0 zeCommandListAppendImageCopyToMemory,
        0 zeCommandListAppendImageCopyFromMemory, 0 zeCommandListAppendMemoryPrefetch,
        0 zeCommandListAppendMemAdvise, 0 zeCommandListAppendSignalEvent, 0 zeCommandListAppendWaitOnEvents,
        0 zeCommandListAppendEventReset, 0 zeCommandListAppendQueryKernelTimestamps,
        0 zeCommandListAppendLaunchKernel, 0 zeCommandListAppendLaunchCooperativeKernel,
        0 zeCommandListAppendLaunchKernelIndirect, 0 zeCommandListAppendLaunchMultipleKernelsIndirect,
        3 zeCommandListAppendImageCopyToMemoryExt, 3 zeCommandListAppendImageCopyFromMemoryExt,
        6 zeCommandListHostSynchronize, 9 zeCommandListGetDeviceHandle, 9 zeCommandListGetContextHandle,
        9 zeCommandListGetOrdinal, 9 zeCommandListImmediateGetIndex, 9 zeCommandListIsImmediate,
        12 zeCommandListAppendSignalExternalSemaphoreExt, 12 zeCommandListAppendWaitExternalSemaphoreExt,
        14 zeCommandListAppendLaunchKernelWithParameters, 14 zeCommandListAppendLaunchKernelWithArguments,
        16 zeCommandListAppendMemoryCopyWithParameters, 16 zeCommandListAppendMemoryFillWithParameters,
        16 zeCommandListImmediateAppendCommandListsWithParameters, 17 zeCommandListGetFlags,
        17 zeCommandListImmediateGetFlags, 17 zeCommandListImmediateGetMode,
        17 zeCommandListImmediateGetPriority, 17 zeCommandListBeginGraphCaptureExt,
        17 zeCommandListBeginCaptureIntoGraphExt, 17 zeCommandListIsGraphCaptureEnabledExt,
        17 zeCommandListEndGraphCaptureExt, 17 zeCommandListGetGraphExt, 17 zeCommandListAppendGraphExt,
        17 zeCommandListAppendHostFunction,
    }
    zeGetCommandListExpProcAddrTable {
        9 zeCommandListCreateCloneExp, 9 zeCommandListImmediateAppendCommandListsExp,
        9 zeCommandListGetNextCommandIdExp, 9 zeCommandListUpdateMutableCommandsExp,
        9 zeCommandListUpdateMutableCommandSignalEventExp, 9 zeCommandListUpdateMutableCommandWaitEventsExp,
        11 zeCommandListGetNextCommandIdWithKernelsExp, 11 zeCommandListUpdateMutableCommandKernelsExp,
        17 zeCommandListIsMutableExp,
    }
    zeGetImageProcAddrTable {
        0 zeImageGetProperties, 0 zeImageCreate, 0 zeImageDestroy, 3 zeImageGetAllocPropertiesExt,
        5 zeImageViewCreateExt,
    }
    zeGetImageExpProcAddrTable {
        2 zeImageGetMemoryPropertiesExp, 2 zeImageViewCreateExp, 9 zeImageGetDeviceOffsetExp,
    }
    zeGetMemProcAddrTable {
        0 zeMemAllocShared, 0 zeMemAllocDevice, 0 zeMemAllocHost, 0 zeMemFree, 0 zeMemGetAllocProperties,
        0 zeMemGetAddressRange, 0 zeMemGetIpcHandle, 0 zeMemOpenIpcHandle, 0 zeMemCloseIpcHandle,
        3 zeMemFreeExt, 6 zeMemPutIpcHandle, 9 zeMemGetPitchFor2dImage, 15 zeMemGetIpcHandleWithProperties,
    }
    zeGetMemExpProcAddrTable {
        6 zeMemGetIpcHandleFromFileDescriptorExp, 6 zeMemGetFileDescriptorFromIpcHandleExp,
        7 zeMemSetAtomicAccessAttributeExp, 7 zeMemGetAtomicAccessAttributeExp,
    }
    zeGetFenceProcAddrTable {
        0 zeFenceCreate, 0 zeFenceDestroy, 0 zeFenceHostSynchronize, 0 zeFenceQueryStatus, 0 zeFenceReset,
    }
    zeGetEventPoolProcAddrTable {
        0 zeEventPoolCreate, 0 zeEventPoolDestroy, 0 zeEventPoolGetIpcHandle, 0 zeEventPoolOpenIpcHandle,
        0 zeEventPoolCloseIpcHandle, 6 zeEventPoolPutIpcHandle, 9 zeEventPoolGetContextHandle,
        9 zeEventPoolGetFlags,
    }
    zeGetEventProcAddrTable {
        0 zeEventCreate, 0 zeEventDestroy, 0 zeEventHostSignal, 0 zeEventHostSynchronize,
        0 zeEventQueryStatus, 0 zeEventHostReset, 0 zeEventQueryKernelTimestamp,
        6 zeEventQueryKernelTimestampsExt, 9 zeEventGetEventPool, 9 zeEventGetSignalScope,
        9 zeEventGetWaitScope, 15 zeEventCounterBasedCreate, 15 zeEventCounterBasedGetIpcHandle,
        15 zeEventCounterBasedOpenIpcHandle, 15 zeEventCounterBasedCloseIpcHandle,
        15 zeEventCounterBasedGetDeviceAddress, 17 zeEventGetCounterBasedFlags,
    }
    zeGetEventExpProcAddrTable {
        2 zeEventQueryTimestampsExp,
    }
    zeGetModuleProcAddrTable {
        0 zeModuleCreate, 0 zeModuleDestroy, 0 zeModuleDynamicLink, 0 zeModuleGetNativeBinary,
        0 zeModuleGetGlobalPointer, 0 zeModuleGetKernelNames, 0 zeModuleGetProperties,
        0 zeModuleGetFunctionPointer, 3 zeModuleInspectLinkageExt,
    }
    zeGetModuleBuildLogProcAddrTable {
        0 zeModuleBuildLogDestroy, 0 zeModuleBuildLogGetString,
    }
    zeGetKernelProcAddrTable {
        0 zeKernelCreate, 0 zeKernelDestroy, 0 zeKernelSetCacheConfig, 0 zeKernelSetGroupSize,
        0 zeKernelSuggestGroupSize, 0 zeKernelSuggestMaxCooperativeGroupCount, 0 zeKernelSetArgumentValue,
        0 zeKernelSetIndirectAccess, 0 zeKernelGetIndirectAccess, 0 zeKernelGetSourceAttributes,
        0 zeKernelGetProperties, 0 zeKernelGetName,
    }
    zeGetKernelExpProcAddrTable {
        1 zeKernelSetGlobalOffsetExp, 2 zeKernelSchedulingHintExp, 11 zeKernelGetBinaryExp,
        14 zeKernelGetAllocationPropertiesExp,
    }
    zeGetSamplerProcAddrTable {
        0 zeSamplerCreate, 0 zeSamplerDestroy,
    }
    zeGetPhysicalMemProcAddrTable {
        0 zePhysicalMemCreate, 0 zePhysicalMemDestroy, 15 zePhysicalMemGetProperties,
    }
    zeGetVirtualMemProcAddrTable {
        0 zeVirtualMemReserve, 0 zeVirtualMemFree, 0 zeVirtualMemQueryPageSize, 0 zeVirtualMemMap,
        0 zeVirtualMemUnmap, 0 zeVirtualMemSetAccessAttribute, 0 zeVirtualMemGetAccessAttribute,
    }
    zeGetFabricVertexExpProcAddrTable {
        4 zeFabricVertexGetExp, 4 zeFabricVertexGetSubVerticesExp, 4 zeFabricVertexGetPropertiesExp,
        4 zeFabricVertexGetDeviceExp,
    }
    zeGetFabricEdgeExpProcAddrTable {
        4 zeFabricEdgeGetExp, 4 zeFabricEdgeGetVerticesExp, 4 zeFabricEdgeGetPropertiesExp,
    }
    zeGetGraphProcAddrTable {
        17 zeGraphCreateExt, 17 zeGraphGetPrimaryCommandListExt, 17 zeGraphSetDestructionCallbackExt,
        17 zeGraphInstantiateExt, 17 zeGraphIsEmptyExt, 17 zeGraphDumpContentsExt, 17 zeGraphDestroyExt,
    }
    zeGetExecutableGraphProcAddrTable {
        17 zeExecutableGraphGetSourceGraphExt, 17 zeExecutableGraphDestroyExt,
    }
    zesGetGlobalProcAddrTable {
        5 zesInit,
    }
    zesGetDeviceProcAddrTable {
        0 zesDeviceGetProperties, 0 zesDeviceGetState, 0 zesDeviceReset, 0 zesDeviceProcessesGetState,
        0 zesDevicePciGetProperties, 0 zesDevicePciGetState, 0 zesDevicePciGetBars, 0 zesDevicePciGetStats,
        0 zesDeviceEnumDiagnosticTestSuites, 0 zesDeviceEnumEngineGroups, 0 zesDeviceEventRegister,
        0 zesDeviceEnumFabricPorts, 0 zesDeviceEnumFans, 0 zesDeviceEnumFirmwares,
        0 zesDeviceEnumFrequencyDomains, 0 zesDeviceEnumLeds, 0 zesDeviceEnumMemoryModules,
        0 zesDeviceEnumPerformanceFactorDomains, 0 zesDeviceEnumPowerDomains, 3 zesDeviceGetCardPowerDomain,
        0 zesDeviceEnumPsus, 0 zesDeviceEnumRasErrorSets, 0 zesDeviceEnumSchedulers,
        0 zesDeviceEnumStandbyDomains, 0 zesDeviceEnumTemperatureSensors, 4 zesDeviceEccAvailable,
        4 zesDeviceEccConfigurable, 4 zesDeviceGetEccState, 4 zesDeviceSetEccState, 5 zesDeviceGet,
        5 zesDeviceSetOverclockWaiver, 5 zesDeviceGetOverclockDomains, 5 zesDeviceGetOverclockControls,
        5 zesDeviceResetOverclockSettings, 5 zesDeviceReadOverclockState, 5 zesDeviceEnumOverclockDomains,
        7 zesDeviceResetExt, 15 zesDevicePciLinkSpeedUpdateExt,
    }
    zesGetDeviceExpProcAddrTable {
        9 zesDeviceGetSubDevicePropertiesExp, 9 zesDeviceEnumActiveVFExp, 11 zesDeviceEnumEnabledVFExp,
    }
    zesGetDriverProcAddrTable {
        0 zesDriverEventListen, 1 zesDriverEventListenEx, 5 zesDriverGet, 8 zesDriverGetExtensionProperties,
        8 zesDriverGetExtensionFunctionAddress,
    }
    zesGetDriverExpProcAddrTable {
        9 zesDriverGetDeviceByUuidExp,
    }
    zesGetOverclockProcAddrTable {
        5 zesOverclockGetDomainProperties, 5 zesOverclockGetDomainVFProperties,
        5 zesOverclockGetDomainControlProperties, 5 zesOverclockGetControlCurrentValue,
        5 zesOverclockGetControlPendingValue, 5 zesOverclockSetControlUserValue,
        5 zesOverclockGetControlState, 5 zesOverclockGetVFPointValues, 5 zesOverclockSetVFPointValues,
    }
    zesGetSchedulerProcAddrTable {
        0 zesSchedulerGetProperties, 0 zesSchedulerGetCurrentMode, 0 zesSchedulerGetTimeoutModeProperties,
        0 zesSchedulerGetTimesliceModeProperties, 0 zesSchedulerSetTimeoutMode,
        0 zesSchedulerSetTimesliceMode, 0 zesSchedulerSetExclusiveMode, 0 zesSchedulerSetComputeUnitDebugMode,
    }
    zesGetPerformanceFactorProcAddrTable {
        0 zesPerformanceFactorGetProperties, 0 zesPerformanceFactorGetConfig, 0 zesPerformanceFactorSetConfig,
    }
    zesGetPowerProcAddrTable {
        0 zesPowerGetProperties, 0 zesPowerGetEnergyCounter, 0 zesPowerGetLimits, 0 zesPowerSetLimits,
        0 zesPowerGetEnergyThreshold, 0 zesPowerSetEnergyThreshold, 4 zesPowerGetLimitsExt,
        4 zesPowerSetLimitsExt, 16 zesPowerGetUsage, 16 zesPowerGetLimitsExt2, 16 zesPowerSetLimitsExt2,
    }
    zesGetFrequencyProcAddrTable {
        0 zesFrequencyGetProperties, 0 zesFrequencyGetAvailableClocks, 0 zesFrequencyGetRange,
        0 zesFrequencySetRange, 0 zesFrequencyGetState, 0 zesFrequencyGetThrottleTime,
        0 zesFrequencyOcGetCapabilities, 0 zesFrequencyOcGetFrequencyTarget,
        0 zesFrequencyOcSetFrequencyTarget, 0 zesFrequencyOcGetVoltageTarget,
        0 zesFrequencyOcSetVoltageTarget, 0 zesFrequencyOcSetMode, 0 zesFrequencyOcGetMode,
        0 zesFrequencyOcGetIccMax, 0 zesFrequencyOcSetIccMax, 0 zesFrequencyOcGetTjMax,
        0 zesFrequencyOcSetTjMax,
    }
    zesGetEngineProcAddrTable {
        0 zesEngineGetProperties, 0 zesEngineGetActivity, 7 zesEngineGetActivityExt,
    }
    zesGetStandbyProcAddrTable {
        0 zesStandbyGetProperties, 0 zesStandbyGetMode, 0 zesStandbySetMode,
    }
    zesGetFirmwareProcAddrTable {
        0 zesFirmwareGetProperties, 0 zesFirmwareFlash, 8 zesFirmwareGetFlashProgress,
        9 zesFirmwareGetConsoleLogs,
    }
    zesGetFirmwareExpProcAddrTable {
        9 zesFirmwareGetSecurityVersionExp, 9 zesFirmwareSetSecurityVersionExp,
    }
    zesGetMemoryProcAddrTable {
        0 zesMemoryGetProperties, 0 zesMemoryGetState, 0 zesMemoryGetBandwidth,
    }
    zesGetFabricPortProcAddrTable {
        0 zesFabricPortGetProperties, 0 zesFabricPortGetLinkType, 0 zesFabricPortGetConfig,
        0 zesFabricPortSetConfig, 0 zesFabricPortGetState, 0 zesFabricPortGetThroughput,
        5 zesFabricPortGetFabricErrorCounters, 7 zesFabricPortGetMultiPortThroughput,
    }
    zesGetTemperatureProcAddrTable {
        0 zesTemperatureGetProperties, 0 zesTemperatureGetConfig, 0 zesTemperatureSetConfig,
        0 zesTemperatureGetState,
    }
    zesGetPsuProcAddrTable {
        0 zesPsuGetProperties, 0 zesPsuGetState,
    }
    zesGetFanProcAddrTable {
        0 zesFanGetProperties, 0 zesFanGetConfig, 0 zesFanSetDefaultMode, 0 zesFanSetFixedSpeedMode,
        0 zesFanSetSpeedTableMode, 0 zesFanGetState,
    }
    zesGetLedProcAddrTable {
        0 zesLedGetProperties, 0 zesLedGetState, 0 zesLedSetState, 0 zesLedSetColor,
    }
    zesGetRasProcAddrTable {
        0 zesRasGetProperties, 0 zesRasGetConfig, 0 zesRasSetConfig, 0 zesRasGetState,
    }
    zesGetRasExpProcAddrTable {
        7 zesRasGetStateExp, 7 zesRasClearStateExp, 16 zesRasGetSupportedCategoriesExp, 16 zesRasGetStateExp2,
        16 zesRasGetConfigExp, 16 zesRasSetConfigExp,
    }
    zesGetDiagnosticsProcAddrTable {
        0 zesDiagnosticsGetProperties, 0 zesDiagnosticsGetTests, 0 zesDiagnosticsRunTests,
    }
    zesGetVFManagementExpProcAddrTable {
        9 zesVFManagementGetVFPropertiesExp, 9 zesVFManagementGetVFMemoryUtilizationExp,
        9 zesVFManagementGetVFEngineUtilizationExp, 9 zesVFManagementSetVFTelemetryModeExp,
        9 zesVFManagementSetVFTelemetrySamplingIntervalExp, 11 zesVFManagementGetVFCapabilitiesExp,
        11 zesVFManagementGetVFMemoryUtilizationExp2, 11 zesVFManagementGetVFEngineUtilizationExp2,
        12 zesVFManagementGetVFCapabilitiesExp2,
    }
    zetGetMetricProgrammableExpProcAddrTable {
        9 zetMetricProgrammableGetExp, 9 zetMetricProgrammableGetPropertiesExp,
        9 zetMetricProgrammableGetParamInfoExp, 9 zetMetricProgrammableGetParamValueInfoExp,
    }
    zetGetMetricTracerExpProcAddrTable {
        11 zetMetricTracerCreateExp, 11 zetMetricTracerDestroyExp, 11 zetMetricTracerEnableExp,
        11 zetMetricTracerDisableExp, 11 zetMetricTracerReadDataExp, 11 zetMetricTracerDecodeExp,
    }
    zetGetMetricDecoderExpProcAddrTable {
        11 zetMetricDecoderCreateExp, 11 zetMetricDecoderDestroyExp,
        11 zetMetricDecoderGetDecodableMetricsExp,
    }
    zetGetDeviceProcAddrTable {
        0 zetDeviceGetDebugProperties,
    }
    zetGetDeviceExpProcAddrTable {
        11 zetDeviceGetConcurrentMetricGroupsExp, 11 zetDeviceCreateMetricGroupsFromMetricsExp,
        13 zetDeviceEnableMetricsExp, 13 zetDeviceDisableMetricsExp,
    }
    zetGetContextProcAddrTable {
        0 zetContextActivateMetricGroups,
    }
    zetGetCommandListProcAddrTable {
        0 zetCommandListAppendMetricStreamerMarker, 0 zetCommandListAppendMetricQueryBegin,
        0 zetCommandListAppendMetricQueryEnd, 0 zetCommandListAppendMetricMemoryBarrier,
    }
    zetGetCommandListExpProcAddrTable {
        13 zetCommandListAppendMarkerExp,
    }
    zetGetModuleProcAddrTable {
        0 zetModuleGetDebugInfo,
    }
    zetGetKernelProcAddrTable {
        0 zetKernelGetProfileInfo,
    }
    zetGetMetricProcAddrTable {
        0 zetMetricGet, 0 zetMetricGetProperties,
    }
    zetGetMetricExpProcAddrTable {
        9 zetMetricCreateFromProgrammableExp, 9 zetMetricDestroyExp, 11 zetMetricCreateFromProgrammableExp2,
    }
    zetGetMetricGroupProcAddrTable {
        0 zetMetricGroupGet, 0 zetMetricGroupGetProperties, 0 zetMetricGroupCalculateMetricValues,
    }
    zetGetMetricGroupExpProcAddrTable {
        2 zetMetricGroupCalculateMultipleMetricValuesExp, 5 zetMetricGroupGetGlobalTimestampsExp,
        6 zetMetricGroupGetExportDataExp, 6 zetMetricGroupCalculateMetricExportDataExp,
        9 zetMetricGroupCreateExp, 9 zetMetricGroupAddMetricExp, 9 zetMetricGroupRemoveMetricExp,
        9 zetMetricGroupCloseExp, 9 zetMetricGroupDestroyExp,
    }
    zetGetMetricStreamerProcAddrTable {
        0 zetMetricStreamerOpen, 0 zetMetricStreamerClose, 0 zetMetricStreamerReadData,
    }
    zetGetMetricQueryPoolProcAddrTable {
        0 zetMetricQueryPoolCreate, 0 zetMetricQueryPoolDestroy,
    }
    zetGetMetricQueryProcAddrTable {
        0 zetMetricQueryCreate, 0 zetMetricQueryDestroy, 0 zetMetricQueryReset, 0 zetMetricQueryGetData,
    }
    zetGetTracerExpProcAddrTable {
        0 zetTracerExpCreate, 0 zetTracerExpDestroy, 0 zetTracerExpSetPrologues, 0 zetTracerExpSetEpilogues,
        0 zetTracerExpSetEnabled,
    }
    zetGetDebugProcAddrTable {
        0 zetDebugAttach, 0 zetDebugDetach, 0 zetDebugReadEvent, 0 zetDebugAcknowledgeEvent,
        0 zetDebugInterrupt, 0 zetDebugResume, 0 zetDebugReadMemory, 0 zetDebugWriteMemory,
        0 zetDebugGetRegisterSetProperties, 0 zetDebugReadRegisters, 0 zetDebugWriteRegisters,
        5 zetDebugGetThreadRegisterSetProperties,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_implemented_has_a_place() {
        for (name, _) in signatures() {
            assert!(NAMES.contains(&name), "{name} is in no table");
        }
        assert_eq!(implemented_functions().len(), api::all_entry_points().count(), "each stands once");
    }

    #[test]
    fn a_table_is_filled_as_far_as_the_loader_knows_it() {
        let mut table = [std::ptr::null::<c_void>(); 9];
        // SAFETY: the newest table of drivers has nine entries.
        let fill = |version, table: &mut [*const c_void; 9]| unsafe {
            zeGetDriverProcAddrTable(version, table.as_mut_ptr())
        };
        assert_eq!(fill(1 << 16 | 4, &mut table), 0);
        assert!(table[..6].iter().all(|f| !f.is_null()) && table[6..].iter().all(|f| f.is_null()));
        assert_eq!(fill(1 << 16 | 17, &mut table), 0);
        assert!(table.iter().all(|f| !f.is_null()));
        assert_eq!(fill(2 << 16, &mut table), Error::UNSUPPORTED_VERSION.0);
        // SAFETY: nothing is written.
        assert_eq!(unsafe { zeGetDriverProcAddrTable(1 << 16 | 13, std::ptr::null_mut()) }, 0x7800_0007);
    }
}
